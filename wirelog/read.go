package wirelog

import (
	"errors"
	"iter"
	"slices"
	"time"

	"lnk/settings"
)

// Line is one line of the log as it was read.
type Line struct {
	Record Record
	Text   string // the line, safe to show as it is
	Err    error  // why the line is no record; Record is then the zero value
}

// Query says which lines are wanted. The zero value wants all.
type Query struct {
	Sandbox settings.Name // empty: of every sandbox
	Since   time.Time     // zero: from the beginning
	Verb    Verb          // empty: each
	Outcome Outcome       // empty: each
	Last    int           // only so many, the last ones; 0: all, -1: none, which only makes sense with Follow
}

// wants reports whether the line is asked for. One that can't be read always is: nobody can tell whose it is.
func (q Query) wants(l Line) bool {
	r := l.Record
	return l.Err != nil ||
		(q.Sandbox == "" || q.Sandbox == r.Sandbox) &&
			(q.Verb == "" || q.Verb == r.Verb) &&
			(q.Outcome == "" || q.Outcome == r.Outcome) &&
			!r.Time.Before(q.Since)
}

// Read gives the lines of the log at path and of its rotated files, in the order in which they were written. A line
// that can't be read is given as one. The error of a pair is about a file that can't be read; its line is the zero
// value, and the other files follow. A log that isn't there is empty.
func Read(path string, q Query) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		files, errs := tails(path, nil)
		r := &reading{query: q, yield: yield, buf: make([]byte, 256<<10)}
		defer func() {
			for _, t := range files {
				t.close()
			}
		}()
		r.fail(errs...)
		r.last(files, true)
	}
}

// reading gives lines to whoever asked for them, until they want no more.
type reading struct {
	query Query
	yield func(Line, error) bool
	buf   []byte
	over  bool
}

func (r *reading) fail(errs ...error) {
	for _, err := range errs {
		r.over = r.over || !r.yield(Line{}, err)
	}
}

func (r *reading) give(l Line) bool {
	r.over = r.over || !r.yield(l, nil)
	return !r.over
}

// last gives the last lines that are asked for, or all.
func (r *reading) last(files []*tail, whole bool) {
	n := r.query.Last
	if n == 0 {
		r.all(files, whole, r.give)
		return
	}
	kept := ring{size: max(n, 0)}
	r.all(files, whole, kept.add)
	for _, l := range kept.lines() {
		r.give(l)
	}
}

// all reads the files to their ends. With whole, a line without an end is given too: nothing is waited for.
func (r *reading) all(files []*tail, whole bool, give func(Line) bool) {
	for _, t := range files {
		if r.over {
			return
		}
		if err := t.read(r.buf, func(line []byte) bool { return r.lines(string(line), give) }); err != nil {
			r.fail(err)
		}
		if whole && t.part != nil && !r.over {
			r.lines(string(t.rest()), give)
		}
	}
}

// lines gives a line of a file where it is asked for. A line that was torn when its writer was killed may have another
// behind it. An empty line is nothing: a writer without the lock, which finds another's line half written, begins its
// own with a newline, and the other line may get its end after all.
func (r *reading) lines(text string, give func(Line) bool) bool {
	if text == "" {
		return true
	}
	rec, err := Parse(text)
	if err == nil {
		return r.ask(Line{Record: rec, Text: text}, give)
	}
	if i := second(text); i > 0 {
		return r.ask(unreadable(text[:i], errTorn), give) && r.lines(text[i:], give)
	}
	return r.ask(unreadable(text, err), give)
}

func (r *reading) ask(l Line, give func(Line) bool) bool {
	return !r.query.wants(l) || give(l)
}

var errTorn = errors.New("reading a log line: torn")

func unreadable(text string, err error) Line { return Line{Text: Clean(text), Err: err} }

// second is where a whole line begins within text; 0: nowhere. No target can hold a line, having no spaces.
func second(text string) int {
	for i := 1; i+len(timeLayout) < len(text); i++ {
		if timeShaped(text[i : i+len(timeLayout)]) {
			if _, err := Parse(text[i:]); err == nil {
				return i
			}
		}
	}
	return 0
}

// ring keeps the last lines that were added.
type ring struct {
	size int
	kept []Line
	next int
}

func (k *ring) add(l Line) bool {
	switch {
	case k.size == 0:
	case len(k.kept) < k.size:
		k.kept = append(k.kept, l)
	default:
		k.kept[k.next] = l
		k.next = (k.next + 1) % k.size
	}
	return true
}

func (k *ring) lines() []Line { return slices.Concat(k.kept[k.next:], k.kept[:k.next]) }
