package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal starts lnk as the foreground job of a new terminal and gives that terminal's other side.
func onTerminal(t *testing.T, args ...string) (*exec.Cmd, *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	cmd := exec.CommandContext(t.Context(), "lnk", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.Env = append(os.Environ(), "LNK_HOME="+t.TempDir()+"/settings", "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, master
}

// until reads what the terminal shows up to a line that holds text, and gives all of it.
func until(t *testing.T, screen *bufio.Scanner, text string) string {
	t.Helper()
	var seen strings.Builder
	for screen.Scan() {
		seen.WriteString(screen.Text() + "\n")
		if strings.Contains(screen.Text(), text) {
			return seen.String()
		}
	}
	t.Fatalf("the terminal never showed %q; it showed %q", text, seen.String())
	return ""
}

func exitOf(t *testing.T, err error) int {
	t.Helper()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if ended == nil {
		return 0
	}
	return ended.ExitCode()
}

// counts says how often it is interrupted, and ends on the line that it reads after that.
const counts = `n=0; trap 'n=$((n+1)); echo interrupted $n' INT TERM; echo ready; until read -r line && [ "$line" = end ]; do :; done; exit $((n+10))`

func TestAKeyOfTheTerminalReachesTheProgramOnce(t *testing.T) {
	cmd, terminal := onTerminal(t, "sandbox", "run", "-q", "--network", "none", "--", "sh", "-c", counts)
	screen := bufio.NewScanner(terminal)
	until(t, screen, "ready")
	if _, err := terminal.WriteString("\x03"); err != nil { // ^C
		t.Fatal(err)
	}
	until(t, screen, "interrupted 1")
	if _, err := terminal.WriteString("end\n"); err != nil {
		t.Fatal(err)
	}
	if got := exitOf(t, cmd.Wait()); got != 11 {
		t.Errorf("exit status %d, want 11: one interrupt, outlived", got)
	}
}

func TestASignalForLnkAloneIsPassedOn(t *testing.T) {
	cmd, terminal := onTerminal(t, "sandbox", "run", "-q", "--network", "none", "--", "sh", "-c", counts)
	screen := bufio.NewScanner(terminal)
	until(t, screen, "ready")
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, screen, "interrupted 1")
	if _, err := terminal.WriteString("end\n"); err != nil {
		t.Fatal(err)
	}
	if got := exitOf(t, cmd.Wait()); got != 11 {
		t.Errorf("exit status %d, want 11", got)
	}
}

func TestWithoutATerminalAnInterruptIsPassedOn(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "lnk", "sandbox", "run", "-q", "--network", "none", "--", "sh", "-c", counts)
	cmd.Env = append(os.Environ(), "LNK_HOME="+t.TempDir()+"/settings", "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen := bufio.NewScanner(out)
	until(t, screen, "ready")
	if err := cmd.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	until(t, screen, "interrupted 1")
	if _, err := in.Write([]byte("end\n")); err != nil {
		t.Fatal(err)
	}
	if got := exitOf(t, cmd.Wait()); got != 11 {
		t.Errorf("exit status %d, want 11", got)
	}
}

func TestAClosedStderrDoesNotEndTheRun(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "lnk", "sandbox", "run", "--network", "none", "--", "sh", "-c", "exit 5")
	cmd.Env = append(os.Environ(), "LNK_HOME="+t.TempDir()+"/settings", "GORACE=atexit_sleep_ms=0")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	cmd.Stderr = writer
	err = cmd.Run()
	writer.Close()
	if got := exitOf(t, err); got != 5 {
		t.Errorf("exit status %d, want the program's 5", got)
	}
}
