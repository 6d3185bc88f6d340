package control

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lnk/settings"

	"go.uber.org/goleak"
)

// roleVariable makes the test binary, started again, run one of roles instead of the tests: with few descriptors, as
// another user, or with file systems of its own.
const roleVariable = "LNK_CONTROL_TEST_ROLE"

var roles = map[string]func(){}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		defer func() {
			if r := recover(); r != nil {
				fmt.Fprintln(os.Stderr, r)
				os.Exit(1)
			}
		}()
		roles[role]()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// runRole runs a role in a process of its own and fails the test if it panics.
func runRole(t *testing.T, role string, attr *syscall.SysProcAttr, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.SysProcAttr = attr
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", role, err, out)
	}
}

// must and expect are for roles, which have no testing.T.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func expect(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}

const box settings.Name = "box"

// newHome is a settings folder with everything in it that belongs there.
func newHome(t *testing.T) settings.Home {
	t.Helper()
	home, err := settings.At(filepath.Join(t.TempDir(), "lnk"))
	if err == nil {
		err = home.Ensure()
	}
	if err != nil {
		t.Fatal(err)
	}
	return home
}

func newGate(t *testing.T, home settings.Home) *Gate {
	t.Helper()
	g, err := NewGate(home, box)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// need fails the test at once; for steps that aren't what is tested.
func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCause(t *testing.T, s State, want Cause) {
	t.Helper()
	if s.Cause != want {
		t.Fatalf("the gate is %v (%s), want %v", s.Cause, s.Why, want)
	}
}

func wantWhy(t *testing.T, s State, part string) {
	t.Helper()
	if !strings.Contains(s.Why, part) {
		t.Fatalf("the reason is %q, want %q in it", s.Why, part)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// tick is one tick of Gate.Watch.
func tick(g *Gate) State { g.settle(); return g.Look() }

func wantRecent(t *testing.T, at time.Time) {
	t.Helper()
	if age := time.Since(at); age < -time.Minute || age > time.Minute {
		t.Fatalf("the time is %v, want about now", at)
	}
}
