package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheStatusIsThePrograms(t *testing.T) {
	for command, want := range map[string]Status{
		"exit 0":                          {},
		"exit 7":                          {Code: 7},
		"exit 255":                        {Code: 255},
		"kill -TERM $$":                   {Signal: unix.SIGTERM},
		"kill -KILL $$":                   {Signal: unix.SIGKILL},
		"ulimit -c 0; kill -SEGV $$":      {Signal: unix.SIGSEGV},
		"trap 'exit 4' INT; kill -INT $$": {Code: 4},
		"sleep 100 & exit 3":              {Code: 3}, // the rest of the tree ends with it
		"(exit 9) & wait $!; exit 5":      {Code: 5}, // a child's is its own
		"kill -TERM 1; kill -INT 1; kill -QUIT 1; kill -KILL 1; exit 6": {Code: 6}, // init isn't ended from inside
	} {
		t.Run(command, func(t *testing.T) {
			each(t, func(t *testing.T, w who) {
				if got := w.run(t, w.plan(command)); got.status != want {
					t.Errorf("%+v, not %+v\n%s", got.status, want, got.out)
				}
			})
		})
	}
}

// fail runs a plan whose program can't be started.
func (w who) fail(t *testing.T, p Plan) error {
	t.Helper()
	l := w.start(t, Options{Stdout: os.Stdout, Stderr: os.Stderr})
	room, err := l.Build(p)
	must(t, err)
	defer room.close()
	err = l.Go()
	if err == nil {
		t.Fatal("it was started")
	}
	return err
}

func TestAProgramThatCantBeExecuted(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		dir := w.folder(t)
		write := func(name, text string, mode os.FileMode) string {
			path := filepath.Join(dir, name)
			must(t, os.WriteFile(path, []byte(text), 0o600))
			must(t, os.Chmod(path, mode))
			return path
		}
		plain, script := write("plain", "echo hello", 0o644), write("script", "#!/no/such/interpreter\n", 0o755)
		for _, c := range []struct {
			is     string
			argv0  string
			path   string
			status int
			errno  unix.Errno
		}{
			{"in no folder of PATH", "no-such-program", dir, 127, unix.ENOENT},
			{"a path to nothing", "/no/such/program", dir, 127, unix.ENOENT},
			{"a path through a file", plain + "/x", dir, 127, unix.ENOTDIR},
			{"not executable, by path", plain, dir, 126, unix.EACCES},
			{"not executable, in PATH", "plain", dir, 126, unix.EACCES},
			{"a folder", dir, dir, 126, unix.EACCES},
			{"a script whose interpreter is missing", script, dir, 127, unix.ENOENT},
		} {
			if w.becomes && c.is != "not executable, by path" {
				continue // a launcher becomes a user once; the others are tried rootless
			}
			p := w.plan("")
			p.Argv, p.Env = []string{c.argv0}, []string{"PATH=" + c.path}
			err := w.fail(t, p)
			var failed *ExecError
			if !errors.As(err, &failed) {
				t.Fatalf("%s: %v", c.is, err)
			}
			if failed.Status != c.status || failed.Path != c.argv0 || !errors.Is(err, c.errno) {
				t.Errorf("%s: %+v, %v", c.is, failed, err)
			}
		}
	})
}

func TestTheProgramIsFoundAsExecvpFindsIt(t *testing.T) {
	rootless := everyone[2]
	for _, c := range []struct{ is, path, argv0, want string }{
		{"the first in PATH", "PATH=DIR/a:DIR/b", "tool", "a"},
		{"past what isn't there", "PATH=/no/such:DIR/b", "tool", "b"},
		{"past what isn't executable", "PATH=DIR/plain:DIR/b", "tool", "b"},
		{"past a folder of that name", "PATH=DIR/folder:DIR/b", "tool", "b"},
		{"an empty entry is the working directory", "PATH=:/no/such", "tool", "a"},
		{"a relative entry", "PATH=../b", "tool", "b"},
		{"a path is taken as it is", "PATH=DIR/b", "./tool", "a"},
		{"the first PATH of two", "PATH=DIR/a\x01PATH=DIR/b", "tool", "a"},
		{"no PATH: the system's own", "X=y", "true", ""},
		{"a script without an interpreter", "PATH=DIR/bare", "tool", "bare 1 2"},
	} {
		t.Run(c.is, func(t *testing.T) {
			rootless.only(t, func(t *testing.T, w who) {
				dir := w.folder(t)
				for name, text := range map[string]string{"a": "#!/bin/sh\necho a", "b": "#!/bin/sh\necho b", "plain": "", "bare": "echo bare $1 $2"} {
					must(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
					mode := os.FileMode(0o755)
					if name == "plain" {
						mode = 0o644
					}
					must(t, os.WriteFile(filepath.Join(dir, name, "tool"), []byte(text), mode))
				}
				must(t, os.MkdirAll(filepath.Join(dir, "folder/tool"), 0o755))
				p := w.plan("")
				p.Argv, p.Dir = []string{c.argv0, "1", "2"}, filepath.Join(dir, "a")
				p.Env = strings.Split(strings.ReplaceAll(c.path, "DIR", dir), "\x01")
				if got := strings.TrimSpace(w.run(t, p).succeed(t)); got != c.want {
					t.Errorf("%q, not %q", got, c.want)
				}
			})
		})
	}
}

func TestTheWorkingDirectory(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		p := w.plan("pwd")
		p.Dir = "/no/such/folder"
		err := w.fail(t, p)
		var failed *ExecError
		if errors.As(err, &failed) || !errors.Is(err, unix.ENOENT) || !strings.Contains(err.Error(), "working directory /no/such/folder") {
			t.Errorf("%v", err)
		}
	})
}

// What the user may not do isn't taken for a right that the machine withholds.
func TestAWorkingDirectoryThatTheUserMayNotEnter(t *testing.T) {
	for _, w := range everyone[1:] {
		t.Run(w.name, func(t *testing.T) {
			w.only(t, func(t *testing.T, w who) {
				p := w.plan("pwd")
				p.Dir = "/root"
				err := w.fail(t, p)
				var right *RightError
				if errors.As(err, &right) || !errors.Is(err, unix.EACCES) || !strings.Contains(err.Error(), "working directory /root") {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestAnEmptyDirIsTheCallers(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		must(t, os.Chdir("/usr/bin"))
		p := w.plan("pwd")
		p.Dir = ""
		if got := w.run(t, p).succeed(t); got != "/usr/bin\n" {
			t.Errorf("%q", got)
		}
	})
}

func TestAWorkingDirectoryThatIsCoveredIsEmpty(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		dir := w.folder(t)
		must(t, os.WriteFile(filepath.Join(dir, "secret"), nil, 0o666))
		must(t, os.Chdir(dir))
		p := w.plan("pwd; ls -a . | tr '\\n' ' '; cat secret")
		p.Dir, p.Cover = "", []string{dir}
		got := w.run(t, p)
		if got.status.Code != 1 || !strings.HasPrefix(got.out, dir+"\n. .. cat: secret: No such file") {
			t.Errorf("%+v", got)
		}
	})
}

// folder makes a folder that the user owns and everyone can reach.
func (w who) folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "lnk-netns-test-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	if w.launcher == 0 {
		must(t, os.Chown(dir, w.user.UID, w.user.GID))
	}
	must(t, os.Chmod(dir, 0o755))
	return dir
}

func TestArgumentsAndEnvironmentAreOctets(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		p := w.plan(`printf '%s\n' "$0" "$@" "$E"; env | wc -l`)
		odd := "\xff\xfe é \n\"quoted\" $HOME"
		p.Argv = append(p.Argv, "zero", odd, "")
		p.Env = []string{"PATH=" + os.Getenv("PATH"), "E=" + odd}
		out := w.run(t, p).succeed(t)
		want := "zero\n" + odd + "\n\n" + odd + "\n"
		if !strings.HasPrefix(out, want) {
			t.Errorf("%q\nnot first\n%q", out, want)
		}
		if n := strings.Count(odd, "\n") + 2; !strings.HasSuffix(out, fmt.Sprint("\n", n+1, "\n")) { // PWD is the shell's
			t.Errorf("other variables are there: %q", out)
		}
	})
}

func TestAnEnvironmentLargerThanAPacket(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		p := w.plan(`echo ${#A} ${#P}`)
		p.Env = append(p.Env, "P=x")
		for i := range 12 {
			p.Env = append(p.Env, fmt.Sprintf("V%d=%s", i, strings.Repeat("v", 100_000)))
		}
		p.Env = append(p.Env, "A="+strings.Repeat("a", 131_000)) // one string is 128 KiB at most
		if got := w.run(t, p).succeed(t); got != "131000 1\n" {
			t.Errorf("%q", got)
		}
	})
}

func TestAnEnvironmentThatIsTooLarge(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		p := w.plan("true")
		p.Env = append(p.Env, "A="+strings.Repeat("a", 140_000))
		err := w.fail(t, p)
		var failed *ExecError
		if !errors.As(err, &failed) || failed.Status != 126 || !errors.Is(err, unix.E2BIG) {
			t.Errorf("%v", err)
		}
	})
}

func TestWhatTheProgramInherits(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		unix.Umask(0o027)
		limit := unix.Rlimit{Cur: 333, Max: 4444}
		must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
		tasks, err := os.ReadDir("/proc/self/task")
		must(t, err)
		for _, task := range tasks { // Linux keeps it for each thread
			var tid int
			_, err := fmt.Sscan(task.Name(), &tid)
			must(t, err)
			must(t, unix.Setpriority(unix.PRIO_PROCESS, tid, 3))
		}
		ignored := ignoredSignals(t) | 1<<(unix.SIGHUP-1) // some are the caller's, or the machine's own
		signal.Ignore(unix.SIGHUP)
		out := w.run(t, w.plan(`umask; ulimit -Sn; ulimit -Hn; ulimit -Sc; nice; id -u; id -g; id -G; grep -E 'Sig(Blk|Ign)' /proc/self/status; cat`)).succeed(t)
		var core unix.Rlimit
		must(t, unix.Getrlimit(unix.RLIMIT_CORE, &core))
		got := lines(out)
		groups := fmt.Sprint(w.user.GID)
		if w.name == "sudo" {
			groups += " 2002"
		}
		want := []string{"0027", "333", "4444", size(core.Cur), "3", fmt.Sprint(w.user.UID), fmt.Sprint(w.user.GID), groups,
			"SigBlk:\t0000000000000000", fmt.Sprintf("SigIgn:\t%016x", ignored)}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%q, not %q", got[i], want[i])
			}
		}
	})
}

// ignoredSignals is the set that this process ignores, bit n-1 for signal n (proc(5)).
func ignoredSignals(t *testing.T) (set uint64) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	must(t, err)
	for line := range strings.Lines(string(status)) {
		if digits, is := strings.CutPrefix(line, "SigIgn:"); is {
			set, err = strconv.ParseUint(strings.TrimSpace(digits), 16, 64)
			must(t, err)
			return set
		}
	}
	t.Fatal("/proc/self/status has no SigIgn")
	return 0
}

func size(limit uint64) string {
	if limit == unix.RLIM_INFINITY {
		return "unlimited"
	}
	return fmt.Sprint(limit / 512)
}

func TestTheLauncherHasMoreDescriptorsAndTheProgramDoesnt(t *testing.T) {
	everyone[0].only(t, func(t *testing.T, w who) {
		limit := unix.Rlimit{Cur: 256, Max: 2048}
		must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
		if out := w.run(t, w.plan("ulimit -Sn; ulimit -Hn")).succeed(t); out != "256\n2048\n" {
			t.Errorf("the program: %q", out)
		}
		must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
		if limit.Cur < 2048 { // more where root may raise the hard limit
			t.Errorf("the launcher: %+v", limit)
		}
	})
}

func TestTheProgramSeesItsOwnDescriptorsAlone(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		leak, err := os.Open("/dev/null") // as a careless caller's: not close-on-exec
		must(t, err)
		defer leak.Close()
		fd := 77
		must(t, unix.Dup2(int(leak.Fd()), fd))
		defer unix.Close(fd)
		out := w.run(t, w.plan(`for n in 0 1 2 3 4 5 6 7 8 9 77; do [ -e /proc/$$/fd/$n ] && echo $n; done; true`)).succeed(t)
		if got := strings.Join(lines(out), " "); got != "0 1 2" {
			t.Errorf("descriptors %s", got)
		}
	})
}

func TestExtraDescriptorsComeAfterTheThree(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		var o Options
		for _, text := range []string{"three", "four"} {
			r, f, err := os.Pipe()
			must(t, err)
			_, err = f.WriteString(text)
			must(t, err)
			must(t, f.Close())
			defer r.Close()
			o.Extra = append(o.Extra, r)
		}
		got := w.runWith(t, w.plan(`cat <&3; echo; cat <&4; echo; (true <&5) 2>/dev/null || echo none`), o, "")
		if out := got.succeed(t); out != "three\nfour\nnone\n" {
			t.Errorf("%q", out)
		}
	})
}

func TestStandardInputAsItIs(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		if out := w.runWith(t, w.plan("cat"), Options{}, "hello").succeed(t); out != "hello" {
			t.Errorf("%q", out)
		}
	})
}

func TestWhatIsClosedStaysClosed(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		r, out, err := os.Pipe()
		must(t, err)
		defer r.Close()
		l := w.start(t, Options{Stdout: out})
		must(t, out.Close())
		room, err := l.Build(w.plan(`for n in 0 1 2 3; do [ -e /proc/$$/fd/$n ] && echo $n; done`))
		must(t, err)
		defer room.close()
		must(t, l.Go())
		buf := make([]byte, 100)
		n, _ := r.Read(buf)
		_, err = l.Wait()
		must(t, err)
		if got := string(buf[:n]); got != "1\n" {
			t.Errorf("open: %q", got)
		}
	})
}

func TestTheProgramIsInTheCallersSessionAndInItsGroupOnATerminal(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		r, out, err := os.Pipe()
		must(t, err)
		defer r.Close()
		in, hold, err := os.Pipe()
		must(t, err)
		l := w.start(t, Options{Stdin: in, Stdout: out})
		must(t, out.Close())
		must(t, in.Close())
		room, err := l.Build(w.plan("echo up; cat"))
		must(t, err)
		defer room.close()
		must(t, l.Go())
		_, err = r.Read(make([]byte, 3))
		must(t, err)
		program := child(t, l.PID())
		group, err := unix.Getpgid(program)
		must(t, err)
		session, err := unix.Getsid(program)
		must(t, err)
		own, err := unix.Getsid(0)
		must(t, err)
		want := program // a group of its own, where there is no job control to be part of
		if hasTerminal() {
			want = unix.Getpgrp()
		}
		if group != want || session != own {
			t.Errorf("group %d and session %d, not %d and %d", group, session, want, own)
		}
		must(t, hold.Close())
		_, err = l.Wait()
		must(t, err)
	})
}

// child is the pid, outside, of a process's first child.
func child(t *testing.T, pid int) int {
	t.Helper()
	all := tree(t, pid)
	if len(all) < 2 {
		t.Fatalf("process %d has no child", pid)
	}
	return all[1]
}

func TestOrphansAreReaped(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		// Each inner shell leaves a child to init that ends before the program looks.
		out := w.run(t, w.plan(`for i in 1 2 3 4 5; do sh -c 'sh -c "exit 0" &'; done
			while grep -l '^PPid:.1$' /proc/[0-9]*/status 2>/dev/null | grep -v "/$$/"; do :; done | wc -l >/dev/null
			grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l`)).succeed(t)
		if out != "0\n" {
			t.Errorf("zombies: %s", out)
		}
	})
}

func TestSignalReachesTheProgram(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		r, out, err := os.Pipe()
		must(t, err)
		defer r.Close()
		l := w.start(t, Options{Stdout: out})
		must(t, out.Close())
		room, err := l.Build(w.plan(`trap 'echo got; exit 9' USR1; echo up; while :; do sleep 0.01; done`))
		must(t, err)
		defer room.close()
		must(t, l.Go())
		buf := make([]byte, 100)
		_, err = r.Read(buf)
		must(t, err)
		must(t, l.Signal(unix.SIGUSR1))
		n, err := r.Read(buf)
		must(t, err)
		if got := string(buf[:n]); got != "got\n" {
			t.Errorf("%q", got)
		}
		status, err := l.Wait()
		if err != nil || status.Code != 9 {
			t.Errorf("%+v, %v", status, err)
		}
		if err := l.Signal(unix.SIGUSR1); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// A caller with one processor, and with one thread to spare.
func TestWithOneProcessor(t *testing.T) {
	if os.Getenv("GOMAXPROCS") == "1" {
		each(t, func(t *testing.T, w who) {
			if out := w.run(t, w.probe("call", "tcp", "203.0.113.10:443", "")).succeed(t); out != "wire 203.0.113.10:443\n" {
				t.Errorf("%q", out)
			}
		})
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestWithOneProcessor$", "-test.v")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestWithOneProcessor/rootless") {
		t.Errorf("%v\n%s", err, out)
	}
}
