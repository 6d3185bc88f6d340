package wirelog

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"lnk/settings"
)

// The sizes of the log: 8 MB of the current file and of each of the four rotated ones, 40 MB in all.
const (
	DefaultSize = 8 << 20
	DefaultKeep = 4
)

// Options are the settings of a Log.
type Options struct {
	Sandbox settings.Name    // whose calls; for records that name none
	Now     func() time.Time // nil: time.Now
	MaxSize int64            // octets of one file; 0: DefaultSize
	Keep    int              // how many rotated files; 0: DefaultKeep, as everywhere but in tests

	// Notice is told, in a sentence, when the log can't be written, once a minute while that lasts, and when it can be
	// again. It is called from the goroutine that met it, without any lock. May be nil.
	Notice func(string)
}

// Log writes one wire's calls. It is safe for use from many goroutines, and many processes may write the same file.
type Log struct {
	sandbox settings.Name
	now     func() time.Time
	notice  func(string)
	broken  atomic.Bool

	mu     sync.Mutex
	file   file
	limits limits
	unsaid [4]unsaid // in the order of outcomes
	outage outage
	buf    []byte
	closed bool
}

// ErrClosed is what Write returns after Close.
var ErrClosed = errors.New("the log is closed")

// Open opens the log at path, an absolute one, and makes it where it is missing; its folder must be there. Both must
// belong to the user that this process runs as.
func Open(path string, o Options) (*Log, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("opening the log %q: not an absolute path", path)
	}
	l := &Log{sandbox: o.Sandbox, now: o.Now, notice: o.Notice, limits: newLimits()}
	l.file = file{path: path, limit: o.MaxSize, keep: o.Keep, fd: -1}
	if l.now == nil {
		l.now = time.Now
	}
	if l.notice == nil {
		l.notice = func(string) {}
	}
	if l.file.limit <= 0 {
		l.file.limit = DefaultSize
	}
	if l.file.keep <= 0 {
		l.file.keep = DefaultKeep
	}
	err := ownFolder(path)
	if err == nil {
		err = l.file.open()
	}
	if err != nil {
		return nil, fmt.Errorf("opening the log %s: %w", path, err)
	}
	return l, nil
}

// Write writes the record, or counts it as left out where the limits say so; that isn't an error. An error means that
// the log couldn't be written; the record is then counted as left out.
func (l *Log) Write(r Record) error {
	l.mu.Lock()
	err := l.write(r)
	said := l.outage.take()
	l.mu.Unlock()
	for _, s := range said {
		l.notice(s)
	}
	return err
}

func (l *Log) write(r Record) error {
	if l.closed {
		return ErrClosed
	}
	now := l.now()
	r = l.complete(r, now)
	u := &l.unsaid[index(r.Outcome)]
	if !r.Always && !l.limits.room(r, now) {
		u.add(r)
		return nil
	}
	line := r
	line.More += u.count
	if err := l.put(line, now); err != nil {
		u.add(r)
		u.lost = true
		l.outage.failed(err, 1, now)
		return err
	}
	*u = unsaid{}
	l.sayLost(now)
	return nil
}

// complete fills in what a record may leave to the log.
func (l *Log) complete(r Record, now time.Time) Record {
	if r.Time.IsZero() {
		r.Time = now
	}
	if r.Sandbox == "" {
		r.Sandbox = l.sandbox
	}
	if index(r.Outcome) < 0 {
		r.Outcome = Failed
	}
	return r
}

// put writes one line, whatever the limits say.
func (l *Log) put(r Record, now time.Time) error {
	l.buf = appendLine(l.buf[:0], r)
	err := l.file.append(l.buf)
	l.broken.Store(err != nil)
	if err != nil {
		l.retryLater()
		return err
	}
	l.outage.worked()
	l.limits.wrote(r, now)
	return nil
}

// Writable reports whether the last line could be written. Where it couldn't, it says so again as soon as a later one
// could: the log tries with each Write, and every few seconds.
func (l *Log) Writable() bool { return !l.broken.Load() }

// Close writes what is still unsaid of what was left out, and closes the file; it waits for whoever is within Write.
// Where that can't be written either, the error says how many calls went unsaid. More calls of it do nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	err := l.sayAll(l.now())
	l.file.close()
	l.outage.stop()
	said := l.outage.take()
	l.mu.Unlock()
	l.outage.waiting.Wait()
	for _, s := range said {
		l.notice(s)
	}
	return err
}
