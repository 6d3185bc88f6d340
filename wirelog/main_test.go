package wirelog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lnk/settings"
)

// childEnv names the part that this binary plays when a test starts it again.
const childEnv = "WIRELOG_TEST_CHILD"

var children = map[string]func(args []string) error{
	"writer": childWriter, "holder": childHolder, "full": childFull, "traffic": childTraffic,
}

func TestMain(m *testing.M) {
	if part, ok := children[os.Getenv(childEnv)]; ok {
		if err := part(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// child is this binary as another process. By /proc/self/exe, since go test's folders are closed to other users.
func child(part string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), childEnv+"="+part)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// As root all tests run a second time, as an ordinary user.
func TestAsAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // this is that run
	}
	const uid = 1001
	tmp := t.TempDir()
	for dir := tmp; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	must(t, os.Chown(tmp, uid, uid))
	cmd := exec.Command("/proc/self/exe", "-test.timeout=5m", "-test.failfast")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HOME="+tmp)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as uid %d: %v\n%s", uid, err, out)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fakeClock moves only when it is told to, or by step with each look.
type fakeClock struct {
	at   time.Time
	step time.Duration
}

func newClock(step time.Duration) *fakeClock {
	return &fakeClock{time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), step}
}

func (c *fakeClock) now() time.Time {
	c.at = c.at.Add(c.step)
	return c.at
}

func logPath(t testing.TB) string { return filepath.Join(t.TempDir(), "wire.log") }

func open(t testing.TB, path string, o Options) *Log {
	t.Helper()
	l, err := Open(path, o)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// lines are the log's lines as they were read; a file that can't be read fails the test.
func lines(t testing.TB, path string, q Query) []Line {
	t.Helper()
	var all []Line
	for l, err := range Read(path, q) {
		must(t, err)
		all = append(all, l)
	}
	return all
}

func texts(t testing.TB, path string) []string {
	var s []string
	for _, l := range lines(t, path, Query{}) {
		s = append(s, l.Text)
	}
	return s
}

func targets(t testing.TB, path string) []string {
	t.Helper()
	var s []string
	for _, l := range lines(t, path, Query{}) {
		if l.Err != nil {
			t.Errorf("%q: %v", l.Text, l.Err)
		}
		s = append(s, l.Record.Target.String())
	}
	return s
}

func same(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func rec(target string) Record {
	return Record{Verb: Connect, Target: NameTarget(target), Outcome: Allowed}
}

const box = settings.Name("box")
