package wirelog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// notices are what Options.Notice was told.
type notices struct {
	mu   sync.Mutex
	text []string
	told chan struct{}
}

func newNotices() *notices { return &notices{told: make(chan struct{}, 100)} }

func (n *notices) add(s string) {
	n.mu.Lock()
	n.text = append(n.text, s)
	n.mu.Unlock()
	n.told <- struct{}{}
}

func (n *notices) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.text...)
}

func TestOutageIsSaidAndCounted(t *testing.T) {
	path, clock, said := logPath(t), newClock(0), newNotices()
	l := open(t, path, Options{Sandbox: box, Now: clock.now, Notice: said.add})
	must(t, l.Write(rec("before")))
	away := filepath.Dir(path) + ".away"
	must(t, os.Rename(filepath.Dir(path), away))
	for i := range 90 {
		r := rec(fmt.Sprint("lost", i))
		if i%2 == 1 {
			r.Outcome = Failed
		}
		if err := l.Write(r); err == nil || !errors.Is(err, unix.ENOENT) {
			t.Fatalf("line %d: %v", i, err)
		}
		clock.at = clock.at.Add(time.Second)
	}
	if l.Writable() {
		t.Error("it is said to be writable")
	}
	must(t, os.Rename(away, filepath.Dir(path)))
	must(t, l.Write(Record{Verb: DNS, Target: NameTarget("after"), Outcome: Refused}))
	if !l.Writable() {
		t.Error("it is said not to be writable")
	}
	same(t, texts(t, path), []string{
		"2026-11-30T12:00:00.000Z box connect before allowed",
		"2026-11-30T12:01:30.000Z box dns after refused",
		"2026-11-30T12:01:28.000Z box connect lost88 allowed (and 44 more allowed since)",
		"2026-11-30T12:01:29.000Z box connect lost89 failed (and 44 more failed since)",
	})
	err := "writing the log " + path + ": no such file or directory"
	same(t, said.all(), []string{
		"calls aren't logged: " + err,
		"calls aren't logged: " + err + " (61 lines left out so far)",
		"calls are logged again; 90 lines were left out",
	})
}

// Where no call comes any more, the count is written all the same.
func TestOutageEndsWithoutACall(t *testing.T) {
	path, said := logPath(t), newNotices()
	l := open(t, path, Options{Sandbox: box, Notice: said.add})
	must(t, l.Write(rec("before")))
	must(t, os.Rename(filepath.Dir(path), filepath.Dir(path)+".away"))
	if err := l.Write(rec("lost")); err == nil {
		t.Fatal("written nowhere")
	}
	<-said.told
	must(t, os.Rename(filepath.Dir(path)+".away", filepath.Dir(path)))
	await(t, said.told, "the retry")
	same(t, targets(t, path), []string{"before", "lost"})
	if !l.Writable() {
		t.Error("it is said not to be writable")
	}
}

func TestCloseInAnOutageSaysSo(t *testing.T) {
	path := logPath(t)
	l := open(t, path, Options{Sandbox: box})
	must(t, os.RemoveAll(filepath.Dir(path)))
	for range 3 {
		_ = l.Write(rec("lost"))
	}
	if err := l.Close(); err == nil || !strings.Contains(err.Error(), "3 calls were left out and it can't be said") {
		t.Error(err)
	}
}

// A notice may use the log.
func TestNoticeMayWrite(t *testing.T) {
	path := logPath(t)
	var l *Log
	l = open(t, path, Options{Sandbox: box, Notice: func(string) { _ = l.Write(rec("from the notice")); l.Writable() }})
	must(t, os.RemoveAll(filepath.Dir(path)))
	if err := l.Write(rec("lost")); err == nil {
		t.Fatal("written nowhere")
	}
}

// A folder in which nothing can be renamed: the log stays within its size and says that it is stuck.
func TestRotationThatIsForbidden(t *testing.T) {
	if os.Geteuid() == 0 {
		return // no folder is closed to root; the ordinary user's run has this test
	}
	path := logPath(t)
	l := open(t, path, Options{Sandbox: box, Now: newClock(time.Second).now, MaxSize: 1024})
	must(t, os.Chmod(filepath.Dir(path), 0o500))
	defer os.Chmod(filepath.Dir(path), 0o700)
	var failed error
	for range 100 {
		failed = l.Write(rec("a"))
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 1024 || failed == nil || l.Writable() {
		t.Errorf("%v, %d octets, error %v", err, info.Size(), failed)
	}
	must(t, os.Chmod(filepath.Dir(path), 0o700))
	must(t, l.Write(rec("b")))
	all := lines(t, path, Query{})
	if n := calls(all); n != 101 {
		t.Errorf("%d calls are accounted for", n)
	}
}

// The disk fills up and is emptied again. In a mount namespace of its own, with a file system of some pages.
func TestFullDisk(t *testing.T) {
	cmd := child("full", t.TempDir())
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWNS
	if uid := os.Geteuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	cmd.Stderr = nil
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func childFull(args []string) error {
	dir := args[0]
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		return fmt.Errorf("mounting: %w", err)
	}
	path, ballast := filepath.Join(dir, "wire.log"), filepath.Join(dir, "ballast")
	said := newNotices()
	l, err := Open(path, Options{Sandbox: box, Now: newClock(time.Second).now, Notice: said.add})
	if err != nil {
		return err
	}
	if err := fillUp(ballast); err != nil {
		return err
	}
	written, lost := 0, 0
	for range 500 {
		switch err := l.Write(rec(strings.Repeat("a", 200))); {
		case err == nil:
			written++
		case errors.Is(err, unix.ENOSPC):
			lost++
		default:
			return fmt.Errorf("a line: %w", err)
		}
	}
	if lost == 0 || l.Writable() {
		return fmt.Errorf("the disk isn't full: %d written, %d lost", written, lost)
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	if err := errors.Join(l.Write(rec("after")), l.Close()); err != nil {
		return err
	}
	return checkFull(path, said.all(), lost)
}

func checkFull(path string, said []string, lost int) error {
	var all []Line
	for line, err := range Read(path, Query{}) {
		if err = errors.Join(err, line.Err); err != nil {
			return fmt.Errorf("%q: %w", line.Text, err)
		}
		all = append(all, line)
	}
	if n := calls(all); n != 501 {
		return fmt.Errorf("%d calls are accounted for", n)
	}
	if last := all[len(all)-1].Record; last.More != lost || last.Target != NameTarget("after") {
		return fmt.Errorf("the last line is %q, %d were lost", last, lost)
	}
	if len(said) < 2 || !strings.Contains(said[0], "no space left") || !strings.Contains(said[len(said)-1], fmt.Sprintf("%d lines were left out", lost)) {
		return fmt.Errorf("said: %q", said)
	}
	return nil
}

// fillUp leaves two pages free: the log gets some lines and a piece of one.
func fillUp(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	size := int64(0)
	for page := make([]byte, 4096); ; size += 4096 {
		if _, err := f.Write(page); err != nil {
			break
		}
	}
	return errors.Join(f.Truncate(size-2*4096), f.Close())
}
