package dnsproxy

import (
	"sync"
	"time"

	"lnk/policy"
	"lnk/wirelog"
)

// together is how long the lookups of one name, with one outcome, are one: programs ask for A, AAAA and HTTPS at once or one after the
// other, and again when an answer is late.
const together = 2 * time.Second

// maxTogether bounds what is remembered of the names of the last seconds.
const maxTogether = 4096

// lines writes the lines of lookups, one for those that belong together.
type lines struct {
	log   Log
	watch Watch
	mu    sync.Mutex
	last  map[line]time.Time
}

type line struct {
	name    string
	outcome wirelog.Outcome
	reason  policy.Reason
}

// first reports whether a line is the first of those that belong together.
func (l *lines) first(k line, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.last[k]; ok && now.Sub(at) < together {
		return false
	}
	if len(l.last) >= maxTogether {
		l.forget(now)
	}
	if l.last == nil {
		l.last = make(map[line]time.Time)
	}
	l.last[k] = now
	return true
}

// forget drops what no longer matters, or else all of it: a flood of names only costs lines that could have been one.
func (l *lines) forget(now time.Time) {
	for k, at := range l.last {
		if now.Sub(at) >= together {
			delete(l.last, k)
		}
	}
	if len(l.last) >= maxTogether {
		clear(l.last)
	}
}

// write writes the line of a lookup, unless it belongs to an earlier one, and reports whether it did not.
func (l *lines) write(k line, now time.Time) bool {
	if !l.first(k, now) {
		return false
	}
	l.log.Write(wirelog.Record{
		Verb:    wirelog.DNS,
		Target:  wirelog.NameTarget(k.name),
		Outcome: k.outcome,
		Reason:  string(k.reason),
	})
	return true
}

// refused writes the line of a lookup that the rules refused and tells the watch.
func (l *lines) refused(name string, r policy.Reason, now time.Time) {
	if l.write(line{name, wirelog.Refused, r}, now) {
		l.watch.Refused(name)
	}
}

// shut writes the line of a lookup that the gate refused.
func (l *lines) shut(name string, r policy.Reason, now time.Time) {
	l.write(line{name, wirelog.Refused, r}, now)
}
