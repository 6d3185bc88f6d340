package wirelog

import "time"

// The figures of what a wire writes at most.
const (
	perMinute = 120         // lines of each outcome within any minute
	minute    = time.Minute // the span that both limits count in
)

// quiet are the reasons of refusals that cost a sandbox nothing and that it could push all else out of the log with: a
// closed wire's, or one's over its limit. One such line is written a minute.
var quiet = map[string]bool{
	"every sandbox is stopped":                 true,
	"the sandbox is paused":                    true,
	"paused, since its settings can't be read": true,
	"over the limit of calls":                  true,
	"the log can't be written":                 true,
}

// limits decides which records become lines. It holds for any minute, not for each minute of the clock: a line has room
// where fewer than the limit were written in the 60 seconds before it.
type limits struct {
	clock    clock
	outcomes [4]window // in the order of outcomes
	quiet    window    // refusals with a quiet reason
	browser  window    // refusals of web pages' requests
}

func newLimits() limits {
	l := limits{quiet: window{size: 1}, browser: window{size: 1}}
	for i := range l.outcomes {
		l.outcomes[i].size = perMinute
	}
	return l
}

// windows are those that a record must have room in: its outcome's, and one for some refusals, otherwise nil.
func (l *limits) windows(r Record) (outcome, special *window) {
	if r.Outcome == Refused && quiet[r.Reason] {
		special = &l.quiet
	} else if r.Outcome == Refused && r.Verb == Browser {
		special = &l.browser
	}
	return &l.outcomes[index(r.Outcome)], special
}

// room reports whether the record may be written now.
func (l *limits) room(r Record, now time.Time) bool {
	at := l.clock.read(now)
	outcome, special := l.windows(r)
	return outcome.room(at) && (special == nil || special.room(at))
}

// wrote counts the record, which was written.
func (l *limits) wrote(r Record, now time.Time) {
	at := l.clock.read(now)
	outcome, special := l.windows(r)
	outcome.add(at)
	if special != nil {
		special.add(at)
	}
}

// window holds when its last lines were written, the oldest at next once there are size of them.
type window struct {
	size int
	at   []time.Duration
	next int
}

func (w *window) room(now time.Duration) bool {
	return len(w.at) < w.size || now-w.at[w.next] >= minute
}

func (w *window) add(now time.Duration) {
	if len(w.at) < w.size {
		w.at = append(w.at, now)
		return
	}
	w.at[w.next] = now
	w.next = (w.next + 1) % w.size
}

// clock turns a clock that may be set back into one that only goes on: to set it back makes no time pass, so it neither
// opens the limits nor keeps them shut until the old time comes again.
type clock struct {
	last time.Time
	sum  time.Duration
}

func (c *clock) read(now time.Time) time.Duration {
	if d := now.Sub(c.last); d > 0 && !c.last.IsZero() {
		c.sum += d
	}
	c.last = now
	return c.sum
}
