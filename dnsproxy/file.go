package dnsproxy

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// lookEvery is how often a file that is followed is looked at.
const lookEvery = time.Second

// maxFile is the most that is read of a file: block lists in a hosts file have some megabytes.
const maxFile = 16 << 20

// followed is what a file says, read again when the file changes. It is looked at by whoever needs it, at most once each second.
type followed[T any] struct {
	path   string
	parse  func([]byte) T // of nil where there is no file
	looked atomic.Int64   // at which tick
	mu     sync.Mutex
	stamp  stamp
	value  atomic.Pointer[T]
}

// stamp tells one state of a file from another.
type stamp struct {
	there    bool
	dev, ino uint64
	size     int64
	changed  time.Time
	settled  bool // it was last changed long enough before it was read for a later change to have another time
}

// get returns what the file says, and whether that is new.
func (f *followed[T]) get(now time.Time) (value *T, changed bool) {
	value, due := f.value.Load(), tick(now)
	if looked := f.looked.Load(); value != nil && (due-looked < int64(lookEvery) || !f.looked.CompareAndSwap(looked, due)) {
		return value, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked.Store(due)
	return f.look(now)
}

// look reads the file if it isn't as it was. A file that is there and can't be read leaves what was known.
func (f *followed[T]) look(now time.Time) (*T, bool) {
	known := f.value.Load()
	s, err := stampOf(f.path, now)
	if known != nil && (err != nil || s == f.stamp && s.settled) {
		return known, false
	}
	var data []byte
	if s.there && err == nil {
		data, err = readFile(f.path)
	}
	if err != nil && known != nil {
		return known, false
	}
	v := f.parse(data)
	f.stamp = s
	f.value.Store(&v)
	return &v, known != nil
}

// stampOf looks at a file. One that isn't there is a state like any other.
func stampOf(path string, now time.Time) (stamp, error) {
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return stamp{settled: true}, nil
	}
	if err != nil {
		return stamp{}, err
	}
	if !info.Mode().IsRegular() {
		return stamp{}, fmt.Errorf("reading %s: not a file", path)
	}
	s := stamp{there: true, size: info.Size(), changed: info.ModTime(), settled: now.Sub(info.ModTime()).Abs() > 2*time.Second}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.dev, s.ino = uint64(st.Dev), st.Ino
	}
	return s, nil
}

// began is when ticks began.
var began = time.Now().Add(-time.Hour)

// tick is a time as nanoseconds of the clock that nobody sets, for what is kept in one word. It is never 0.
func tick(t time.Time) int64 { return int64(t.Sub(began)) }

// readFile reads a file, up to the last line that is whole where there is too much of it.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if len(data) == maxFile {
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	return data, err
}
