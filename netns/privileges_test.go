package netns

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// nothing is what /proc/PID/status says of a process without capabilities.
var nothing = "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"

func TestTheProgramHasNoCapabilityAndNoWayToOne(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		out := w.run(t, w.plan(`cat /proc/self/status`)).succeed(t)
		for _, want := range []string{
			nothing + "CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n",
			fmt.Sprintf("Uid:\t%[1]d\t%[1]d\t%[1]d\t%[1]d\n", w.user.UID),
			fmt.Sprintf("Gid:\t%[1]d\t%[1]d\t%[1]d\t%[1]d\n", w.user.GID),
		} {
			if !strings.Contains(out, want) {
				t.Errorf("no\n%s\nin\n%s", want, out)
			}
		}
	})
}

func TestInitHasNoneOnAnyThread(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		out := w.run(t, w.plan(`cat /proc/1/task/*/status`)).succeed(t)
		threads := strings.Count(out, "Name:\t")
		if threads < 2 {
			t.Fatalf("init has %d threads:\n%s", threads, out)
		}
		for _, want := range []string{nothing, "NoNewPrivs:\t1\n", fmt.Sprintf("Uid:\t%[1]d\t%[1]d\t%[1]d\t%[1]d\n", w.user.UID)} {
			if n := strings.Count(out, want); n != threads {
				t.Errorf("%d of %d threads have\n%s\n%s", n, threads, want, out)
			}
		}
	})
}

func TestInitIsHiddenFromItsUser(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		r, out, err := os.Pipe()
		must(t, err)
		defer r.Close()
		in, hold, err := os.Pipe()
		must(t, err)
		defer hold.Close()
		l := w.start(t, Options{Stdin: in, Stdout: out})
		must(t, out.Close())
		must(t, in.Close())
		room, err := l.Build(w.plan("echo up; cat"))
		must(t, err)
		defer room.close()
		must(t, l.Go())
		_, err = r.Read(make([]byte, 3))
		must(t, err)
		// The launcher is that user as well by now. A user namespace's owner may look into it from outside.
		if w.launcher == 0 && w.user.UID != 0 {
			if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", l.PID())); err == nil {
				t.Error("init's memory can be read by a process of its user")
			}
		}
	})
}

func TestNestedNamespacesLeadNowhere(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		got := w.run(t, w.plan(`unshare -Urn sh -c 'ip -o link | wc -l; ip link set lo up; nft flush ruleset; nft list ruleset | wc -l'
			nsenter -t 1 -n true; nsenter -t 1 -U true; ip link set eth0 netns 1; echo end`))
		want := "1\n0\n" // lo alone, and no rule to flush
		if w.user.UID == 0 {
			want = "unshare: write failed /proc/self/uid_map: Operation not permitted\n" // it takes CAP_SETFCAP to map root
		}
		if !strings.HasPrefix(got.out, want) || !strings.HasSuffix(got.out, "end\n") {
			t.Errorf("%s", got.out)
		}
		if n := len(regexp.MustCompile(`(?i)permission denied|not permitted`).FindAllString(got.out, -1)); n < 2 {
			t.Errorf("%d refusals:\n%s", n, got.out)
		}
	})
}

func TestSetuidProgramsGainNothing(t *testing.T) {
	for _, w := range everyone {
		t.Run(w.name, func(t *testing.T) {
			if os.Getenv(childEnv) == "" { // as root, before the test's own process
				makeSetuid(t)
			}
			w.only(t, func(t *testing.T, w who) {
				out := w.run(t, w.plan(setuidID+" -u")).succeed(t)
				if out != fmt.Sprintln(w.user.UID) {
					t.Errorf("a setuid program runs as %s", out)
				}
			})
		})
	}
}

// setuidID is a setuid root copy of id.
const setuidID = "/tmp/lnk-netns-test-setuid/id"

func makeSetuid(t *testing.T) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(setuidID), 0o755))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(setuidID)) })
	data, err := os.ReadFile("/usr/bin/id")
	must(t, err)
	must(t, os.WriteFile(setuidID, data, 0o755))
	must(t, os.Chmod(setuidID, 0o755|os.ModeSetuid))
}

func TestTheLauncherBecomesTheUserForGood(t *testing.T) {
	everyone[1].only(t, func(t *testing.T, w who) {
		l := w.start(t, Options{})
		tasks, err := filepath.Glob("/proc/self/task/*/status")
		must(t, err)
		for _, path := range tasks {
			status, err := os.ReadFile(path)
			must(t, err)
			for _, want := range []string{nothing, "Uid:\t1001\t1001\t1001\t1001\n", "Gid:\t1001\t1001\t1001\t1001\n", "Groups:\t1001 2002 \n"} {
				if !strings.Contains(string(status), want) {
					t.Errorf("%s lacks %s:\n%s", path, want, status)
				}
			}
		}
		if err := unix.Setresuid(-1, 0, -1); err == nil {
			t.Error("it is root again")
		}
		for _, path := range []string{"/proc/self/stat", "/proc/self/status", "/proc/self/mountinfo"} {
			if _, err := os.ReadFile(path); err != nil {
				t.Errorf("%v", err)
			}
		}
		if _, err := os.Executable(); err != nil {
			t.Error(err)
		}
		if _, err := os.ReadDir("/proc/self/fd"); err != nil {
			t.Error(err)
		}
		must(t, l.Become(w.user)) // again: nothing to do
		if err := l.Become(Identity{UID: 0, GID: 0}); err == nil {
			t.Error("it became root")
		}
	})
}

func TestRootThatStaysRootGivesUpItsCapabilities(t *testing.T) {
	everyone[0].only(t, func(t *testing.T, w who) {
		w.start(t, Options{})
		if withCgo {
			return // a binary with cgo can't: Become says so
		}
		tasks, err := filepath.Glob("/proc/self/task/*/status")
		must(t, err)
		for _, path := range tasks {
			if status, _ := os.ReadFile(path); !strings.Contains(string(status), nothing) {
				t.Errorf("%s:\n%s", path, status)
			}
		}
	})
}

func TestKeptCapabilities(t *testing.T) {
	kept := capabilities(unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER)
	for _, w := range everyone[:2] {
		t.Run(w.name, func(t *testing.T) {
			w.only(t, func(t *testing.T, w who) {
				p := w.plan("cat /proc/self/status; cat /proc/1/status")
				p.Capabilities = kept
				out := w.run(t, p).succeed(t)
				set := fmt.Sprintf("%016x", uint64(kept))
				want := strings.ReplaceAll("CapInh:\tSET\nCapPrm:\tSET\nCapEff:\tSET\nCapBnd:\tSET\nCapAmb:\tSET\nNoNewPrivs:\t1\n", "SET", set)
				if !strings.Contains(out, want) {
					t.Errorf("the program lacks\n%s\n%s", want, out)
				}
				if !strings.Contains(out, nothing) {
					t.Errorf("init keeps some:\n%s", out)
				}
			})
		})
	}
}
