package wirelog

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	manyLines = 1000
	smallLog  = 64 << 10
	keepAll   = 2000
	endless   = -1
)

// childWriter writes lines w-0, w-1, … and says each number once it is written: so many, or until its input ends.
func childWriter(args []string) error {
	path, name := args[0], args[1]
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	l, err := Open(path, Options{Sandbox: box, Now: newClock(time.Second).now, MaxSize: smallLog, Keep: keepAll})
	if err != nil {
		return err
	}
	var over atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		over.Store(true)
	}()
	for i := 0; i < n || n == endless && !over.Load(); i++ {
		r := Record{Verb: Connect, Target: HostPort(fmt.Sprintf("%s-%d.example.org", name, i), 443), Outcome: Allowed}
		if err := l.Write(r); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return l.Close()
}

// childHolder takes the lock, says so, and keeps it until its input ends.
func childHolder(args []string) error {
	f := &file{path: args[0], limit: smallLog, keep: keepAll, fd: -1}
	if err := f.open(); err != nil {
		return err
	}
	if !f.lock() {
		return fmt.Errorf("no lock")
	}
	fmt.Println("held")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// aWriter is a process that writes, and what it said.
type aWriter struct {
	name string
	cmd  *exec.Cmd
	in   io.Closer
	many bool          // endless
	said int           // lines that it knows to be written; for others once done is closed
	done chan struct{} // closed when it said its last
	half chan struct{} // closed once half of its lines are written
}

func startWriter(t *testing.T, path, name string, lines int) *aWriter {
	t.Helper()
	w := &aWriter{name: name, many: lines == endless, done: make(chan struct{}), half: make(chan struct{})}
	w.cmd = child("writer", path, name, strconv.Itoa(lines))
	in, err := w.cmd.StdinPipe()
	must(t, err)
	w.in = in
	out, err := w.cmd.StdoutPipe()
	must(t, err)
	must(t, w.cmd.Start())
	go func() {
		defer close(w.done)
		for s := bufio.NewScanner(out); s.Scan(); {
			if w.said++; w.said == manyLines/2 {
				close(w.half)
			}
		}
	}()
	return w
}

func (w *aWriter) wait(t *testing.T, killed bool) {
	t.Helper()
	await(t, w.done, w.name+" to end")
	if err := w.cmd.Wait(); (err != nil) != killed {
		t.Errorf("%s: %v", w.name, err)
	}
}

// await is for states that come by themselves; the minute is for a machine that is busy.
func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("waited a minute for %s", what)
	}
}

// tally counts lines by target; two followers and the reader must agree.
type tally struct {
	mu   sync.Mutex
	seen map[string]int
	bad  []string
	full chan struct{}
	want int
}

func (c *tally) add(l Line, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		err = l.Err
	}
	if err != nil {
		c.bad = append(c.bad, fmt.Sprint(l.Text, ": ", err))
		return
	}
	c.seen[l.Record.Target.String()]++
	c.check()
}

func (c *tally) check() {
	if c.want > 0 && len(c.seen) >= c.want {
		close(c.full)
		c.want = 0
	}
}

func (c *tally) expect(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.want = n
	c.check()
}

func follow(t *testing.T, path string) *tally {
	c := &tally{seen: map[string]int{}, full: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for l, err := range Follow(ctx, path, Query{}) {
			c.add(l, err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return c
}

// Ten processes write a thousand lines each through many rotations while two follow. One of them is stopped midway
// until the others are done, another killed. Every line is there once, whole, in its writer's order, and the followers
// got the same.
func TestTenProcesses(t *testing.T) {
	path := logPath(t)
	followers := []*tally{follow(t, path), follow(t, path)}
	var writers []*aWriter
	for i := range 10 {
		n := manyLines
		if i == 3 || i == 7 {
			n = endless
		}
		writers = append(writers, startWriter(t, path, fmt.Sprint("w", i), n))
	}
	stopped, killed := writers[3], writers[7]
	await(t, stopped.half, "the writer to be stopped")
	must(t, stopped.cmd.Process.Signal(syscall.SIGSTOP))
	await(t, killed.half, "the writer to be killed")
	for _, w := range writers {
		if w != stopped && w != killed {
			w.wait(t, false)
		}
	}
	must(t, killed.cmd.Process.Kill())
	killed.wait(t, true)
	rotations := highest(path)
	must(t, stopped.cmd.Process.Signal(syscall.SIGCONT))
	must(t, stopped.in.Close())
	stopped.wait(t, false)
	if rotations < 8 {
		t.Errorf("only %d rotations", rotations)
	}

	all := lines(t, path, Query{})
	checkWriters(t, all, writers, killed)
	checkSizes(t, path, 3*maxLine) // one was stopped: a few lines more
	for _, f := range followers {
		f.expect(countRecords(all))
		await(t, f.full, "a follower")
		f.mu.Lock()
		for _, l := range all {
			if n := f.seen[l.Record.Target.String()]; l.Err == nil && n != 1 {
				t.Errorf("a follower got %s %d times", l.Record.Target, n)
			}
		}
		if len(f.bad) > 1 { // what the killed one left
			t.Errorf("a follower got %q", f.bad)
		}
		f.mu.Unlock()
	}
}

func countRecords(all []Line) int {
	n := 0
	for _, l := range all {
		if l.Err == nil {
			n++
		}
	}
	return n
}

func checkWriters(t *testing.T, all []Line, writers []*aWriter, killed *aWriter) {
	t.Helper()
	next := map[string]int{}
	for _, l := range all {
		if l.Err != nil {
			if next["torn"]++; killed == nil || next["torn"] > 1 {
				t.Errorf("torn: %q", l.Text)
			}
			continue
		}
		host, _, _ := strings.Cut(l.Record.Target.String(), ".")
		name, number, _ := strings.Cut(host, "-")
		if number != strconv.Itoa(next[name]) {
			t.Fatalf("%s: line %s where %d was due", name, number, next[name])
		}
		next[name]++
	}
	for _, w := range writers {
		switch n := next[w.name]; {
		case w != killed && n != w.said, !w.many && n != manyLines:
			t.Errorf("%s: %d lines, %d of which it knew", w.name, n, w.said)
		case n < w.said:
			t.Errorf("%s, killed: %d lines, %d of which it knew", w.name, n, w.said)
		}
	}
}

func checkSizes(t *testing.T, path string, more int64) {
	t.Helper()
	names, err := filepath.Glob(path + "*")
	must(t, err)
	for _, name := range names {
		info, err := os.Lstat(name)
		must(t, err)
		if info.Mode() != 0o600 || info.Size() > smallLog+more {
			t.Errorf("%s: %v, %d octets", name, info.Mode(), info.Size())
		}
	}
}

// While nobody is stopped no file is larger than the limit.
func TestSizesHoldAmongProcesses(t *testing.T) {
	path := logPath(t)
	var writers []*aWriter
	for i := range 6 {
		writers = append(writers, startWriter(t, path, fmt.Sprint("w", i), manyLines))
	}
	for _, w := range writers {
		w.wait(t, false)
	}
	checkSizes(t, path, 0)
	all := lines(t, path, Query{})
	checkWriters(t, all, writers, nil)
	// No file is left much shorter than the limit either: each rotation was one process's.
	for k := highest(path); k > 0; k-- {
		if info, err := os.Stat(numbered(path, k)); err != nil || info.Size() < smallLog-maxLine {
			t.Errorf(".%d: %v, %d octets", k, err, info.Size())
		}
	}
}

// A process that has the lock and is stopped, for good, holds up nobody; killed, it gives the lock back.
func TestProcessStoppedWithTheLock(t *testing.T) {
	path := logPath(t)
	holder := child("holder", path)
	in, err := holder.StdinPipe()
	must(t, err)
	out, err := holder.StdoutPipe()
	must(t, err)
	must(t, holder.Start())
	if s := bufio.NewScanner(out); !s.Scan() || s.Text() != "held" {
		t.Fatal("the holder doesn't hold")
	}
	must(t, holder.Process.Signal(syscall.SIGSTOP))
	var writers []*aWriter
	for i := range 4 {
		writers = append(writers, startWriter(t, path, fmt.Sprint("w", i), manyLines))
	}
	for _, w := range writers {
		w.wait(t, false)
	}
	checkWriters(t, lines(t, path, Query{}), writers, nil)
	must(t, holder.Process.Kill())
	in.Close()
	_ = holder.Wait()
	f := &file{path: numbered(path, highest(path)), limit: 1 << 20, keep: 1, fd: -1}
	must(t, f.open())
	defer f.close()
	if !f.lock() {
		t.Error("the lock outlived its holder")
	}
}

// Logs that others move, cut and replace while processes write: what is still in a file is whole.
func TestOthersMeddle(t *testing.T) {
	path := logPath(t)
	var writers []*aWriter
	for i := range 4 {
		writers = append(writers, startWriter(t, path, fmt.Sprint("w", i), manyLines))
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			switch i % 3 {
			case 0:
				_ = os.Rename(path, fmt.Sprint(filepath.Dir(path), "/moved.", i))
			case 1:
				_ = os.Symlink("/dev/null", numbered(path, 1))
			case 2:
				_ = unix.Mkdir(numbered(path, 2), 0o700)
			}
		}
	})
	for _, w := range writers {
		w.wait(t, false)
	}
	close(stop)
	wg.Wait()
	moved, err := filepath.Glob(filepath.Dir(path) + "/moved.*")
	must(t, err)
	seen := map[string]int{}
	for _, name := range append(moved, path) {
		for l, err := range Read(name, Query{}) {
			if err != nil && name == path {
				continue // a link or folder at a rotated name
			}
			if err != nil || l.Err != nil {
				t.Fatal(name, err, l)
			}
			seen[l.Record.Target.String()]++
		}
	}
	if len(seen) != 4*manyLines {
		t.Errorf("%d lines", len(seen))
	}
	if i := slices.IndexFunc(writers, func(w *aWriter) bool { return w.said != manyLines }); i >= 0 {
		t.Errorf("%s wrote %d lines", writers[i].name, writers[i].said)
	}
}
