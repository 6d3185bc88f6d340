package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"lnk/netns"
)

// inside marks the second run of this test binary, which is in a network namespace of its own: whatever a command
// calls in a test, it reaches nothing but that.
const inside = "LNK_TEST_INSIDE"

func TestMain(m *testing.M) {
	netns.Init()
	if os.Getenv(inside) == "" && isTestRun() {
		os.Exit(again())
	}
	testscript.Main(m, map[string]func(){"lnk": main})
}

// isTestRun tells the test binary itself from the lnk that testscript makes of it.
func isTestRun() bool { return filepath.Base(os.Args[0]) != "lnk" }

func again() int {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := cmd.Run(); err != nil {
		if cmd.ProcessState != nil {
			return cmd.ProcessState.ExitCode()
		}
		os.Stderr.WriteString("making a network namespace for the tests (they need root): " + err.Error() + "\n")
		return 1
	}
	return 0
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": status},
		Setup: func(e *testscript.Env) error {
			e.Setenv("LNK_HOME", e.WorkDir+"/settings")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("SUDO_UID", "")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // under -race each lnk would otherwise stay a second
			return nil
		},
	})
}

// status runs a command that must end with a status: status 125 lnk sandbox run.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("status %d, want %d", got, want)
	}
}
