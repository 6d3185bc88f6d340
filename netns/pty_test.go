package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// launchEnv makes this test binary what lnk is to a shell: a command that runs its arguments in a room.
const launchEnv = "LNK_TEST_LAUNCH"

// launch runs a program as lnk does, and returns the status that a shell sees.
func launch(argv []string) int {
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGQUIT) // the program gets them from the terminal too
	w := everyone[0]
	for _, w = range everyone {
		if w.name == os.Getenv(launchEnv) {
			break
		}
	}
	status, err := w.launch(argv)
	switch {
	case err != nil:
		fmt.Println("lnk: error:", err)
		return 125
	case status.Signal != 0:
		return 128 + int(status.Signal)
	}
	return status.Code
}

func (w who) launch(argv []string) (Status, error) {
	l, err := Start(Options{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return Status{}, err
	}
	defer l.Close()
	if w.becomes {
		if err := l.Become(w.user); err != nil {
			return Status{}, err
		}
	}
	p := Plan{Argv: argv, Env: []string{"PATH=" + os.Getenv("PATH"), "PS1=inner> ", "TERM=dumb"}, User: w.user}
	if argv[0] == "probe" {
		p.Argv, p.Env = []string{"/proc/self/exe"}, append(p.Env, probeEnv+"="+argv[1])
	}
	room, err := l.Build(p)
	if err != nil {
		return Status{}, err
	}
	defer room.close()
	if err := l.Go(); err != nil {
		return Status{}, err
	}
	return l.Wait()
}

// typist is a shell on a pseudo-terminal, seen by who types.
type typist struct {
	t      *testing.T
	master *os.File
	shell  *exec.Cmd
	seen   strings.Builder
	read   int // of seen, what was expected so far
}

// shell starts an interactive shell for the user, in which $LNK runs a command in a room.
func (w who) shell(t *testing.T) *typist {
	t.Helper()
	master, slave := openPTY(t)
	defer slave.Close()
	must(t, unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}))
	must(t, unix.Fchown(int(slave.Fd()), int(w.launcher), int(w.launcher)))
	must(t, unix.SetNonblock(int(master.Fd()), true))
	binary := w.binary(t)
	cmd := exec.Command("bash", "--norc", "--noprofile", "--noediting", "-i")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PS1=outer> ", "TERM=dumb", "LNK=" + binary, launchEnv + "=" + w.name, "GORACE=atexit_sleep_ms=0"}
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Credential: &syscall.Credential{Uid: w.launcher, Gid: w.launcher}}
	must(t, cmd.Start())
	p := &typist{t: t, master: master, shell: cmd}
	t.Cleanup(func() { p.end() })
	p.expect("outer> ")
	return p
}

// binary is a copy of this test binary that the user finds.
func (w who) binary(t *testing.T) string {
	t.Helper()
	dir := w.folder(t)
	data, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, os.WriteFile(dir+"/lnk", data, 0o755))
	must(t, os.Chmod(dir+"/lnk", 0o755))
	return dir + "/lnk"
}

func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	must(t, err)
	must(t, unix.SetNonblock(fd, true)) // for deadlines
	master = os.NewFile(uintptr(fd), "ptmx")
	slave, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	return master, slave
}

func (p *typist) end() {
	p.master.Close() // hangs up
	p.shell.Process.Kill()
	p.shell.Wait()
}

// types writes on the keyboard.
func (p *typist) types(text string) {
	p.t.Helper()
	if _, err := p.master.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// expect waits until text is on the screen, after what was expected last, and returns what came before it.
func (p *typist) expect(text string) string {
	p.t.Helper()
	buf := make([]byte, 4096)
	p.master.SetReadDeadline(time.Now().Add(30 * time.Second))
	for {
		rest := p.seen.String()[p.read:]
		if i := strings.Index(rest, text); i >= 0 {
			p.read += i + len(text)
			return rest[:i]
		}
		n, err := p.master.Read(buf)
		p.seen.Write(buf[:n])
		if err != nil && n == 0 {
			p.t.Fatalf("no %q on the screen: %v\n%s", text, err, p.seen.String())
		}
	}
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	ctrlZ = "\x1a"
)

// terminals runs the test for each who; the shell is a child of this process, which stays root.
func terminals(t *testing.T, test func(t *testing.T, w who, p *typist)) {
	for _, w := range everyone {
		t.Run(w.name, func(t *testing.T) { test(t, w, w.shell(t)) })
	}
}

func TestInterruptIsThePrograms(t *testing.T) {
	terminals(t, func(t *testing.T, w who, p *typist) {
		p.types(`$LNK sh -c 'trap "echo interrupted; exit 4" INT; echo u""p; while :; do sleep 0.02; done'` + "\n")
		p.expect("up\r\n")
		p.types(ctrlC)
		p.expect("interrupted\r\n")
		p.expect("outer> ")
		p.types("echo status $?\n")
		p.expect("status 4\r\n")
	})
}

func TestAProgramThatIsInterruptedAndLives(t *testing.T) {
	terminals(t, func(t *testing.T, w who, p *typist) {
		p.types(`$LNK sh -c 'trap "echo again" INT; echo u""p; until read line; do :; done; echo "got $line"; exit 6'` + "\n")
		p.expect("up\r\n")
		p.types(ctrlC)
		p.expect("again\r\n")
		p.types(ctrlC)
		p.expect("again\r\n")
		p.types("hello\n")
		p.expect("got hello\r\n")
		p.expect("outer> ")
		p.types("echo status $?\n")
		p.expect("status 6\r\n")
	})
}

func TestStopAndContinue(t *testing.T) {
	terminals(t, func(t *testing.T, w who, p *typist) {
		p.types(`$LNK sh -c 'echo u""p; while read line; do echo "got $line"; done; exit 5'` + "\n")
		p.expect("up\r\n")
		for range 3 {
			p.types(ctrlZ)
			p.expect("Stopped")
			p.expect("outer> ")
			p.types("echo status $?; jobs\n")
			p.expect("status 148\r\n")
			p.expect("Stopped")
			p.expect("outer> ")
			p.types("fg\n")
			p.expect("$LNK sh")
			p.types("hello\n")
			p.expect("got hello\r\n")
		}
		p.types(ctrlD)
		p.expect("outer> ")
		p.types("echo status $?\n")
		p.expect("status 5\r\n")
	})
}

func init() { probes["suspend"] = probeSuspend }

// probeSuspend does as an editor does when it is to stop: it cleans the screen first, and paints it when it is back.
func probeSuspend([]string) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTSTP)
	fmt.Println("up")
	<-stop
	for range 2000 {
		fmt.Println("cleaning")
	}
	fmt.Println("clean")
	stopAs(unix.SIGTSTP)
	fmt.Println("back")
	return nil
}

func TestAProgramThatCleansUpBeforeItStops(t *testing.T) {
	terminals(t, func(t *testing.T, w who, p *typist) {
		p.types("$LNK probe suspend\n")
		p.expect("up\r\n")
		p.types(ctrlZ)
		if before := p.expect("Stopped"); !strings.Contains(before, "clean\r\n") {
			t.Errorf("the shell is back before the program has cleaned up:\n%s", before)
		}
		p.expect("outer> ")
		p.types("fg\n")
		p.expect("$LNK probe")
		p.expect("back\r\n")
		p.expect("outer> ")
		p.types("echo status $?\n")
		p.expect("status 0\r\n")
	})
}

func TestAProgramThatStopsItself(t *testing.T) {
	terminals(t, func(t *testing.T, w who, p *typist) {
		p.types(`$LNK sh -c 'kill -STOP $$; read line; echo "got $line"; exit 5'` + "\n")
		p.expect("Stopped")
		p.expect("outer> ")
		p.types("bg; while ! jobs | grep -q Stopped; do :; done; fg\n") // it reads in the background
		p.expect("$LNK sh")
		p.types("hello\n")
		p.expect("got hello\r\n")
		p.expect("outer> ")
		p.types("echo status $?\n")
		p.expect("status 5\r\n")
	})
}

func TestReadingInTheBackgroundStops(t *testing.T) {
	terminals(t, func(t *testing.T, w who, p *typist) {
		p.types(`$LNK sh -c 'read line; echo "got $line"; exit 5' &` + "\n")
		p.expect("outer> ")
		p.types("while ! jobs | grep -q Stopped; do :; done; echo it stop''ped\n")
		p.expect("it stopped\r\n")
		p.types("fg\n")
		p.expect("$LNK sh")
		p.expect("\r\n")
		p.types("hello\n")
		p.expect("got hello\r\n")
		p.expect("outer> ")
		p.types("echo status $?\n")
		p.expect("status 5\r\n")
	})
}

func TestTheTerminalsSize(t *testing.T) {
	terminals(t, func(t *testing.T, w who, p *typist) {
		p.types(`$LNK bash -c 'trap "stty size" WINCH; stty size; tty; echo to the tty > /dev/tty; until read -t 0.02 line; do :; done; exit 7'` + "\n")
		p.expect("\r\n40 120\r\n")
		p.expect("/dev/pts/")
		p.expect("to the tty\r\n")
		must(t, unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 99}))
		must(t, unix.SetNonblock(int(p.master.Fd()), true)) // Fd made it blocking
		p.expect("50 99\r\n")
		p.types("end\n")
		p.expect("outer> ")
		p.types("echo status $?\n")
		p.expect("status 7\r\n")
	})
}

func TestAShellInside(t *testing.T) {
	terminals(t, func(t *testing.T, w who, p *typist) {
		p.types("before=$(stty -a); $LNK bash --norc --noprofile --noediting -i\n")
		if said := p.expect("inner> "); strings.Contains(said, "job control") {
			t.Errorf("%s", said)
		}
		p.types(`sh -c 'echo u""p; read line; echo "got $line"'` + "\n")
		p.expect("up\r\n")
		p.types(ctrlZ)
		p.expect("Stopped")
		p.expect("inner> ")
		p.types("fg\n")
		p.expect("sh -c")
		p.types("hello\n")
		p.expect("got hello\r\n")
		p.expect("inner> ")
		p.types(`sh -c 'echo u""p; exec sleep 1000'` + "\n")
		p.expect("up\r\n")
		p.types(ctrlC)
		p.expect("inner> ")
		p.types("echo status $?\n")
		p.expect("status 130\r\n")
		p.expect("inner> ")
		p.types("exit 3\n")
		p.expect("outer> ")
		p.types("echo status $?; [ \"$(stty -a)\" = \"$before\" ] && echo unchanged\n")
		p.expect("status 3\r\n")
		p.expect("unchanged\r\n")
	})
}

// A script isn't a shell that takes its terminal back: what comes after a shell in a room must be able to read.
func TestTheTerminalIsGivenBackToAScript(t *testing.T) {
	terminals(t, func(t *testing.T, w who, p *typist) {
		p.types(`sh -c '$LNK bash --norc --noprofile --noediting -i; echo status $?; read line; echo "got $line"'` + "\n")
		p.expect("inner> ")
		p.types("exit 3\n")
		p.expect("status 3\r\n")
		p.types("hello\n")
		p.expect("got hello\r\n")
		p.expect("outer> ")
	})
}

func TestHangingUpEndsEverything(t *testing.T) {
	terminals(t, func(t *testing.T, w who, p *typist) {
		p.types(`$LNK sh -c 'sleep 1000 & echo u""p; read line'` + "\n")
		p.expect("up\r\n")
		var inside []int
		for _, pid := range tree(t, p.shell.Process.Pid) {
			fd, err := unix.PidfdOpen(pid, 0)
			if errors.Is(err, unix.ESRCH) {
				continue
			}
			must(t, err)
			defer unix.Close(fd)
			inside = append(inside, fd)
		}
		if len(inside) < 4 { // shell, launcher, init, program
			t.Fatalf("%d processes", len(inside))
		}
		must(t, p.master.Close())
		p.shell.Wait()
		for _, fd := range inside {
			gone(t, fd)
		}
	})
}
