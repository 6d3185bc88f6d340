package internet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// searchPath is the PATH of everyone on the machine.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// User is who runs a command on the machine.
type User string

// The users of the machine.
const (
	Root     User = "root"     // root, not by sudo
	Sudo     User = "sudo"     // ada, by a real sudo
	Ada      User = "ada"      // ada without sudo
	Rootless User = "rootless" // bob, who may not use sudo
)

// Ways are the three ways in which lnk is run: as root, under sudo, and as an ordinary user.
func Ways() []User { return []User{Root, Sudo, Rootless} }

func (u User) account() account {
	switch u {
	case Root:
		return account{"root", 0, "/root", "/bin/sh"}
	case Sudo, Ada:
		return ada
	default:
		return bob
	}
}

func (u User) home() string { return u.account().home }
func (u User) uid() int     { return u.account().id }

// Home is the user's home folder, UID the user's id: of who calls sudo, for Sudo.
func (u User) Home() string { return u.home() }
func (u User) UID() int     { return u.uid() }

// Settings is where Link keeps the user's settings.
func (u User) Settings() string { return filepath.Join(u.home(), ".lnk") }

// Machine is the machine under test: the namespaces in which the test itself runs.
type Machine struct{}

// Command is a command of a user, in the user's home folder and with an environment as after a login. It is in a
// process group of its own, which ends with ctx.
func (m *Machine) Command(ctx context.Context, u User, args ...string) *exec.Cmd {
	a := u.account()
	if u == Sudo {
		args = append([]string{"sudo", "-n"}, args...)
	}
	path := args[0]
	if found, err := look(path); err == nil {
		path = found
	}
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Dir = a.home
	cmd.Env = []string{
		"PATH=" + searchPath, "HOME=" + a.home, "USER=" + a.name, "LOGNAME=" + a.name, "SHELL=" + a.shell,
		"LANG=C.UTF-8", "TERM=dumb", "NODE_EXTRA_CA_CERTS=" + CAFile,
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid: true, Credential: &syscall.Credential{Uid: uint32(a.id), Gid: uint32(a.id), Groups: []uint32{uint32(a.id)}},
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Result is how a command ended.
type Result struct {
	Stdout, Stderr string
	Status         int // the exit status, 128+n for a signal
	Took           time.Duration
}

func (r Result) String() string {
	return fmt.Sprintf("status %d after %s\nstdout: %s\nstderr: %s", r.Status, r.Took.Round(time.Millisecond), clip(r.Stdout), clip(r.Stderr))
}

func clip(s string) string {
	if len(s) > 3000 {
		return s[:3000] + "…"
	}
	return s
}

// Run runs a command to its end, with nothing on its input, and fails the test where it can't or takes a minute.
func (m *Machine) Run(t testing.TB, u User, args ...string) Result {
	t.Helper()
	return m.RunInput(t, u, "", args...)
}

// RunInput is Run with a text on the command's input.
func (m *Machine) RunInput(t testing.TB, u User, input string, args ...string) Result {
	t.Helper()
	r, err := m.Try(u, input, args...)
	if err != nil {
		t.Fatalf("%s: %s: %v\n%v", u, strings.Join(args, " "), err, r)
	}
	return r
}

// Try is RunInput for any goroutine: its error is that the command couldn't be run or didn't end, not its status.
func (m *Machine) Try(u User, input string, args ...string) (Result, error) {
	ctx, cancel := within(time.Minute)
	defer cancel()
	cmd := m.Command(ctx, u, args...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	r := Result{Stdout: stdout.String(), Stderr: stderr.String(), Status: Status(cmd.ProcessState), Took: time.Since(start)}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	return r, errors.Join(ctx.Err(), err)
}

// Status is a process's exit status as a shell gives it.
func Status(state *os.ProcessState) int {
	if state == nil {
		return -1
	}
	ws := state.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// look finds a program on the machine's own path, whatever the path of the test is.
func look(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range strings.Split(searchPath, ":") {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("looking for %s: not in %s", name, searchPath)
}
