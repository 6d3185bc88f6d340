package wirelog

import (
	"context"
	"errors"
	"iter"
	"time"

	"golang.org/x/sys/unix"
)

const (
	followEvery = 100 * time.Millisecond
	// maxFollowed bounds the files held open, far above what rotation keeps. One that is let go of while it still has a number of the log's
	// would be met again as new, and given twice.
	maxFollowed = 4096
)

// Follow gives what Read gives, and then each line that is written, until ctx ends or the caller wants no more. It goes
// on over rotations, over a log that is cut, moved away or deleted, and where it isn't there yet.
//
// It looks ten times a second: a call of stat for each file. It keeps the rotated files open until they are dropped,
// and looks at them too, since a writer that was stopped in mid-write adds its line to the file that was the log then.
func Follow(ctx context.Context, path string, q Query) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f := &following{path: path, reading: reading{query: q, yield: yield, buf: make([]byte, 64<<10)}}
		defer f.close()
		f.fail(f.refresh()...)
		f.last(f.files, false)
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for !f.over {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				f.look()
			}
		}
	}
}

type following struct {
	reading
	path  string
	files []*tail // the oldest first
	said  string  // the errors that were given last: each is given once
}

// look gives what was written since the last time.
func (f *following) look() {
	if errs := f.refresh(); len(errs) == 0 {
		f.said = ""
	} else if text := errors.Join(errs...).Error(); text != f.said {
		f.said = text
		f.fail(errs...)
	}
	f.all(f.files, false, f.give)
	f.forget()
}

// refresh opens files that are new.
func (f *following) refresh() []error {
	if st, err := lstat(f.path); err == nil && len(f.files) > 0 && idOf(&st) == f.files[len(f.files)-1].id {
		return nil
	} else if errors.Is(err, unix.ENOENT) && len(f.files) == 0 {
		return nil
	}
	known := map[fileID]bool{}
	for _, t := range f.files {
		known[t.id] = true
	}
	found, errs := tails(f.path, known)
	f.files = append(f.files, found...)
	return errs
}

// forget closes the files that were dropped, and the oldest ones if somebody else moves logs away without end. What is
// left of a line then has no end to wait for.
func (f *following) forget() {
	kept := f.files[:0]
	for i, t := range f.files {
		if !t.dropped() && len(f.files)-i <= maxFollowed {
			kept = append(kept, t)
			continue
		}
		f.all([]*tail{t}, true, f.give)
		t.close()
	}
	f.files = kept
}

func (f *following) close() {
	for _, t := range f.files {
		t.close()
	}
}
