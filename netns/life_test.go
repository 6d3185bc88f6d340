package netns

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The steps of a launcher's life, at each of which something may go wrong.
var stages = []string{"started", "built", "running"}

// up takes a launch to a stage. The program, where it runs, waits for its input to end.
func (w who) up(t *testing.T, stage string) *Launch {
	t.Helper()
	in, hold, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { hold.Close() })
	l := w.start(t, Options{Stdin: in, Stdout: os.Stderr, Stderr: os.Stderr})
	must(t, in.Close())
	if stage == "started" {
		return l
	}
	room, err := l.Build(w.plan("sleep 1000 & sleep 1000 & read line"))
	must(t, err)
	t.Cleanup(room.close)
	if stage == "running" {
		must(t, l.Go())
	}
	return l
}

func TestCloseEndsEverythingAtAnyStage(t *testing.T) {
	for _, stage := range stages {
		t.Run(stage, func(t *testing.T) {
			each(t, func(t *testing.T, w who) {
				l := w.up(t, stage)
				inside := tree(t, l.PID())
				must(t, l.Close())
				must(t, l.Close())
				for _, pid := range inside {
					if alive(pid) {
						t.Errorf("process %d lives on", pid)
					}
				}
				if _, err := l.Wait(); err == nil {
					t.Error("a program that was ended has a status")
				}
			})
		})
	}
}

func TestInitsDeathIsAClearError(t *testing.T) {
	for _, stage := range stages {
		t.Run(stage, func(t *testing.T) {
			each(t, func(t *testing.T, w who) {
				l := w.up(t, stage)
				switch err := unix.Kill(l.PID(), unix.SIGKILL); {
				case errors.Is(err, unix.EPERM) && w.becomes && w.user.UID != 0 && stage != "running":
					return // it still is root's
				case err != nil:
					t.Fatal(err)
				}
				var err error
				switch stage {
				case "started":
					_, err = l.Build(w.plan("true"))
				case "built":
					err = l.Go()
				case "running":
					_, err = l.Wait()
				}
				if err == nil || !strings.Contains(err.Error(), "it ended (signal: killed)") && !strings.Contains(err.Error(), "init ended first (signal: killed)") {
					t.Errorf("%v", err)
				}
				if right := (*RightError)(nil); errors.As(err, &right) {
					t.Errorf("it is taken for a missing right: %v", right)
				}
			})
		})
	}
}

// TestTheLaunchersDeathEndsEverything kills a launcher outright, at each stage. It is a process of its own, which says who
// is in its room and waits.
func TestTheLaunchersDeathEndsEverything(t *testing.T) {
	for _, stage := range stages {
		for _, w := range everyone {
			t.Run(stage+"/"+w.name, func(t *testing.T) {
				if os.Getenv(childEnv) == t.Name() {
					l := w.up(t, stage)
					for _, pid := range tree(t, l.PID()) {
						fmt.Println("inside", pid)
					}
					fmt.Println("ready")
					io.Copy(io.Discard, os.Stdin) // until it is killed
					return
				}
				w.killed(t)
			})
		}
	}
}

func (w who) killed(t *testing.T) {
	t.Helper()
	pattern := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.Command("/proc/self/exe", "-test.run="+pattern)
	cmd.Env = append(os.Environ(), childEnv+"="+t.Name(), "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: w.launcher, Gid: w.launcher}}
	in, err := cmd.StdinPipe()
	must(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	var text []byte
	for !bytes.Contains(text, []byte("ready\n")) {
		buf := make([]byte, 4096)
		n, err := out.Read(buf)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		text = append(text, buf[:n]...)
	}
	var inside []int
	for _, line := range lines(string(text)) {
		if number, ok := strings.CutPrefix(line, "inside "); ok {
			pid, err := strconv.Atoi(number)
			must(t, err)
			fd, err := unix.PidfdOpen(pid, 0)
			must(t, err)
			defer unix.Close(fd)
			inside = append(inside, fd)
		}
	}
	if len(inside) == 0 {
		t.Fatalf("nobody is inside:\n%s", text)
	}
	must(t, cmd.Process.Kill())
	cmd.Wait()
	for _, fd := range inside {
		gone(t, fd)
	}
}

// tree is a process and all its descendants.
func tree(t *testing.T, pid int) []int {
	t.Helper()
	list := []int{pid}
	for i := 0; i < len(list); i++ {
		paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", list[i]))
		must(t, err)
		for _, path := range paths {
			out, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			for _, field := range strings.Fields(string(out)) {
				pid, err := strconv.Atoi(field)
				must(t, err)
				list = append(list, pid)
			}
		}
	}
	return list
}

func alive(pid int) bool {
	out, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(out, []byte(") Z "))
}

// state is what of this machine a room could leave something of.
func state(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, command := range []string{"ip -o link | sed 's/@.*//' | sort", "ip -o route", "ip -o -6 route", "nft list ruleset", "cat /proc/self/mountinfo | sort",
		"ls /run/netns 2>/dev/null", "cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/disable_ipv6"} {
		out, _ := exec.Command("sh", "-c", command).CombinedOutput()
		fmt.Fprintf(&b, "$ %s\n%s", command, out)
	}
	return b.String()
}

func TestNothingIsLeftAfterManyRuns(t *testing.T) {
	for _, w := range []who{everyone[0], everyone[2]} {
		t.Run(w.name, func(t *testing.T) {
			w.only(t, func(t *testing.T, w who) {
				w.becomes = false // once is all there is, and this process makes many
				w.round(t)
				before, open := state(t), descriptorsOpen(t)
				for range 200 {
					w.round(t)
				}
				if after := state(t); after != before {
					t.Errorf("before\n%s\nafter\n%s", before, after)
				}
				if now := descriptorsOpen(t); !slices.Equal(now, open) {
					t.Errorf("open before %q, after %q", open, now)
				}
				if left := tree(t, os.Getpid()); len(left) != 1 {
					t.Errorf("processes are left: %d", left)
				}
			})
		})
	}
}

// round is a whole run, after which nothing of the launch is referred to.
func (w who) round(t *testing.T) {
	t.Helper()
	l, err := Start(Options{Stdout: os.Stdout, Stderr: os.Stderr})
	must(t, err)
	room, err := l.Build(w.plan("exit 3"))
	must(t, err)
	stop := serve(t, room)
	must(t, l.Go())
	status, err := l.Wait()
	must(t, err)
	if status.Code != 3 {
		t.Fatalf("%+v", status)
	}
	must(t, l.Close())
	stop()
}

func descriptorsOpen(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	var list []string
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasSuffix(to, "/fd") {
			list = append(list, e.Name()+" "+to)
		}
	}
	return list
}

func TestManyRoomsAtOnce(t *testing.T) {
	everyone[2].only(t, func(t *testing.T, w who) {
		done := make(chan error)
		for range 8 {
			go func() {
				for range 5 {
					if err := w.quick(); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range 8 {
			must(t, <-done)
		}
	})
}

func (w who) quick() error {
	l, err := Start(Options{Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return err
	}
	defer l.Close()
	room, err := l.Build(w.plan("exit 3"))
	if err != nil {
		return err
	}
	defer room.close()
	if err := l.Go(); err != nil {
		return err
	}
	status, err := l.Wait()
	if err == nil && status.Code != 3 {
		err = fmt.Errorf("%+v", status)
	}
	return err
}

func TestCallsOutOfOrder(t *testing.T) {
	everyone[2].only(t, func(t *testing.T, w who) {
		l := w.start(t, Options{})
		if err := l.Go(); !errors.Is(err, errOrder) {
			t.Errorf("Go before Build: %v", err)
		}
		room, err := l.Build(w.plan("true"))
		must(t, err)
		defer room.close()
		if _, err := l.Build(w.plan("true")); !errors.Is(err, errOrder) {
			t.Errorf("Build twice: %v", err)
		}
		must(t, l.Go())
		if err := l.Go(); !errors.Is(err, errOrder) {
			t.Errorf("Go twice: %v", err)
		}
		_, err = l.Wait()
		must(t, err)
	})
}

// Someone who calls lnk by init's name gets an answer, and nothing is built.
func TestInitByHand(t *testing.T) {
	for _, name := range []string{initName, keeperName} {
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = []string{name}
		out, err := cmd.CombinedOutput()
		failed := (*exec.ExitError)(nil)
		if !errors.As(err, &failed) || failed.ExitCode() != statusBroken || !strings.Contains(string(out), "is started by lnk alone") {
			t.Errorf("%v, %s", err, out)
		}
	}
}
