package wirelog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// writer is a log without limits, whose files hold about five lines.
func writer(t testing.TB, path string) *Log {
	return open(t, path, Options{Sandbox: box, Now: newClock(time.Second).now, MaxSize: 256})
}

func write5(t testing.TB, l *Log, prefix string) []string {
	t.Helper()
	var names []string
	for i := range 5 {
		names = append(names, fmt.Sprint(prefix, i))
		must(t, l.Write(rec(names[i])))
	}
	return names
}

func TestFileIsTheOwnersAlone(t *testing.T) {
	path := logPath(t)
	old := unix.Umask(0o777)
	l := writer(t, path)
	unix.Umask(old)
	for range 100 {
		must(t, l.Write(rec("a")))
	}
	for k := range 5 {
		name := path
		if k > 0 {
			name = numbered(path, k)
		}
		info, err := os.Lstat(name)
		must(t, err)
		if info.Mode() != 0o600 || info.Size() > 256 || info.Size() < 200 {
			t.Errorf("%s: %v, %d octets", name, info.Mode(), info.Size())
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 5 {
		t.Errorf("%d files", len(entries))
	}
}

func TestFileOthersCouldReadIsClosed(t *testing.T) {
	path := logPath(t)
	must(t, os.WriteFile(path, nil, 0o666))
	writer(t, path)
	if info, _ := os.Stat(path); info.Mode() != 0o600 {
		t.Error(info.Mode())
	}
}

func TestLinesAreOneWriteInOrder(t *testing.T) {
	path := logPath(t)
	l := open(t, path, Options{Sandbox: box, Now: newClock(time.Second).now, MaxSize: 256, Keep: 100})
	var want []string
	for i := range 200 {
		want = append(want, fmt.Sprint("n", i))
		must(t, l.Write(rec(want[i])))
	}
	same(t, targets(t, path), want)
}

func TestOldestIsDropped(t *testing.T) {
	path := logPath(t)
	l := writer(t, path)
	var want []string
	for i := range 200 {
		want = append(want, fmt.Sprint("n", 100+i)) // lines of one length
		must(t, l.Write(rec(want[i])))
	}
	got := targets(t, path)
	if len(got) < 4*4+1 || len(got) > 5*6 {
		t.Fatalf("%d lines are left", len(got))
	}
	same(t, got, want[len(want)-len(got):])
}

func TestLineLongerThanTheLimitIsWritten(t *testing.T) {
	path := logPath(t)
	l := open(t, path, Options{Sandbox: box, MaxSize: 10})
	for _, name := range []string{"a", "b", "c"} {
		must(t, l.Write(rec(name)))
	}
	same(t, targets(t, path), []string{"a", "b", "c"})
}

func TestOpenOfWhatCantBeALog(t *testing.T) {
	tests := map[string]struct {
		before func(path string) error
		err    string
	}{
		"a link to a file of the user's": {func(p string) error {
			return errors.Join(os.WriteFile(p+".x", nil, 0o600), os.Symlink(p+".x", p))
		}, "it is a symbolic link, not a file"},
		"a link to nowhere":     {func(p string) error { return os.Symlink(p+".x", p) }, "it is a symbolic link, not a file"},
		"a folder":              {func(p string) error { return os.Mkdir(p, 0o700) }, "it is a folder, not a file"},
		"a pipe nobody reads":   {func(p string) error { return unix.Mkfifo(p, 0o600) }, "it is a pipe, not a file"},
		"a file with two names": {func(p string) error { return errors.Join(os.WriteFile(p+".x", nil, 0o600), os.Link(p+".x", p)) }, "it has 2 names"},
		"a folder that is missing": {func(p string) error { return os.Remove(filepath.Dir(p)) },
			"its folder: no such file or directory"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "logs", "wire.log")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			must(t, tt.before(path))
			_, err := Open(path, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), path) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if _, err := os.Lstat(path + ".x"); err == nil {
				if data, _ := os.ReadFile(path + ".x"); len(data) > 0 {
					t.Errorf("something was written: %q", data)
				}
			}
		})
	}
	if _, err := Open("wire.log", Options{}); err == nil || !strings.Contains(err.Error(), "not an absolute path") {
		t.Errorf("a relative path: %v", err)
	}
}

func TestOpenOfAnotherUsersLog(t *testing.T) {
	if os.Geteuid() != 0 {
		_, err := Open("/wire.log", Options{})
		if err == nil || !strings.Contains(err.Error(), "its folder belongs to user 0, not to") {
			t.Error(err)
		}
		return
	}
	path := logPath(t)
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, os.Chown(path, 1001, 1001))
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "it belongs to user 1001, not to 0") {
		t.Errorf("another's file: %v", err)
	}
	must(t, os.Remove(path))
	must(t, os.Chown(filepath.Dir(path), 1001, 1001))
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "its folder belongs to user 1001, not to 0") {
		t.Errorf("another's folder: %v", err)
	}
}

// Whatever stands at a rotated file's name is neither followed, opened nor deleted, and rotation goes on.
func TestPlantedAtARotatedName(t *testing.T) {
	for k := 1; k <= 5; k++ {
		for what, plant := range map[string]func(path, victim string) error{
			"a link":        func(p, v string) error { return os.Symlink(v, p) },
			"a dead link":   func(p, v string) error { return os.Symlink(v+".gone", p) },
			"a folder":      func(p, v string) error { return os.Mkdir(p, 0o700) },
			"a full folder": func(p, v string) error { return os.MkdirAll(p+"/x", 0o700) },
			"a pipe":        func(p, v string) error { return unix.Mkfifo(p, 0o600) },
		} {
			t.Run(fmt.Sprint(what, " at .", k), func(t *testing.T) {
				path := logPath(t)
				victim := filepath.Join(t.TempDir(), "victim")
				must(t, os.WriteFile(victim, []byte("untouched"), 0o644))
				must(t, plant(numbered(path, k), victim))
				l := writer(t, path)
				for i := range 60 {
					must(t, l.Write(rec(fmt.Sprint("n", 10+i))))
				}
				got := targets(t, path)
				if n := len(got); n < 17 || got[n-1] != "n69" || got[0] != fmt.Sprint("n", 70-n) {
					t.Errorf("left: %q", got)
				}
				if data, _ := os.ReadFile(victim); string(data) != "untouched" {
					t.Errorf("the link's file holds %q", data)
				}
				if _, err := os.Lstat(victim + ".gone"); !errors.Is(err, fs.ErrNotExist) {
					t.Error("a dead link was followed")
				}
				aside, _ := filepath.Glob(numbered(path, k) + ".not-a-log-*")
				if len(aside) != 1 {
					t.Errorf("not moved aside: %v", aside)
				}
			})
		}
	}
}

// What happens to the log's own name while it is open.
func TestLogIsMovedCutOrReplaced(t *testing.T) {
	tests := map[string]struct {
		act  func(t *testing.T, path string)
		kept bool // the lines before are in the log still
	}{
		"moved away":      {func(t *testing.T, p string) { must(t, os.Rename(p, p+".old")) }, false},
		"deleted":         {func(t *testing.T, p string) { must(t, os.Remove(p)) }, false},
		"cut to nothing":  {func(t *testing.T, p string) { must(t, os.Truncate(p, 0)) }, false},
		"rotated by hand": {func(t *testing.T, p string) { must(t, os.Rename(p, p+".1")) }, true},
		"its folder moved": {func(t *testing.T, p string) {
			d := filepath.Dir(p)
			must(t, os.Rename(d, d+".old"))
			must(t, os.Mkdir(d, 0o700))
		}, false},
		"copied and cut": {func(t *testing.T, p string) {
			data, err := os.ReadFile(p)
			must(t, err)
			must(t, os.WriteFile(p+".1", data, 0o600))
			must(t, os.Truncate(p, 0))
		}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "logs", "wire.log")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			l := open(t, path, Options{Sandbox: box, Now: newClock(time.Second).now})
			before := write5(t, l, "before")
			tt.act(t, path)
			want := write5(t, l, "after")
			if tt.kept {
				want = append(before, want...)
			}
			same(t, targets(t, path), want)
		})
	}
}

// A link put in the log's place while it is open is an outage, not a place to write.
func TestLinkInTheLogsPlace(t *testing.T) {
	path, victim := logPath(t), filepath.Join(t.TempDir(), "victim")
	must(t, os.WriteFile(victim, nil, 0o600))
	l := writer(t, path)
	must(t, l.Write(rec("a")))
	must(t, os.Remove(path))
	must(t, os.Symlink(victim, path))
	if err := l.Write(rec("b")); err == nil || !strings.Contains(err.Error(), "a symbolic link") {
		t.Errorf("error %v", err)
	}
	must(t, os.Remove(path))
	must(t, l.Write(rec("c")))
	if got := texts(t, path); len(got) != 1 || !strings.HasSuffix(got[0], "connect c allowed (and 1 more allowed since)") {
		t.Errorf("got %q", got)
	}
	if data, _ := os.ReadFile(victim); len(data) > 0 {
		t.Errorf("the link was followed: %q", data)
	}
}

func TestWriterAfterATornLineBeginsItsOwn(t *testing.T) {
	path := logPath(t)
	l := writer(t, path)
	must(t, l.Write(rec("a")))
	appendRaw(t, path, "2026-11-30T12:00:00.000Z box conn") // killed in mid-write
	must(t, l.Write(rec("b")))
	must(t, l.Write(rec("c")))
	got := lines(t, path, Query{})
	if len(got) != 4 || got[1].Err == nil || got[1].Text != "2026-11-30T12:00:00.000Z box conn" ||
		got[2].Record.Target != NameTarget("b") || got[3].Record.Target != NameTarget("c") {
		t.Errorf("got %+v", got)
	}
}

func appendRaw(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, errors.Join(err, f.Close()))
}

func TestManyGoroutinesManyLogs(t *testing.T) {
	path := logPath(t)
	logs := []*Log{
		open(t, path, Options{Sandbox: box, Now: newClock(time.Second).now, MaxSize: 4096, Keep: 500}),
		open(t, path, Options{Sandbox: box, Now: newClock(time.Second).now, MaxSize: 4096, Keep: 500}),
	}
	var wg sync.WaitGroup
	for g := range 10 {
		wg.Go(func() {
			for i := range 200 {
				if err := logs[g%2].Write(rec(fmt.Sprintf("g%d-%d", g, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	seen := map[string]int{}
	for _, name := range targets(t, path) {
		seen[name]++
	}
	if len(seen) != 2000 {
		t.Errorf("%d lines", len(seen))
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s %d times", name, n)
		}
	}
}

func TestClosedLog(t *testing.T) {
	l := writer(t, logPath(t))
	must(t, l.Close())
	must(t, l.Close())
	if err := l.Write(rec("a")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}
