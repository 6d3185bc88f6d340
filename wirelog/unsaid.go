package wirelog

import (
	"fmt"
	"slices"
	"time"
)

// unsaid is what was left out of one outcome since its last line. The outcome's next line says how many; where none
// comes, the last of those left out becomes that line itself.
type unsaid struct {
	count int
	last  Record
	lost  bool // some because the log couldn't be written: that is said as soon as it can be
}

func (u *unsaid) add(r Record) {
	u.count += 1 + r.More
	u.last = r
}

// index is the outcome's place in outcomes; -1 where it is none.
func index(o Outcome) int { return slices.Index(outcomes, o) }

// say writes the last of those left out, and how many others there were.
func (l *Log) say(u *unsaid, now time.Time) error {
	if u.count == 0 {
		return nil
	}
	r := u.last
	r.More = u.count - 1
	if err := l.put(r, now); err != nil {
		l.outage.failed(err, 0, now)
		return err
	}
	*u = unsaid{}
	return nil
}

// sayLost says what couldn't be written while the log couldn't be. Where it can't be again, a retry is due.
func (l *Log) sayLost(now time.Time) {
	for i := range l.unsaid {
		if u := &l.unsaid[i]; u.lost && l.say(u, now) != nil {
			return
		}
	}
}

// sayAll says all that was left out, for whatever reason.
func (l *Log) sayAll(now time.Time) error {
	for i := range l.unsaid {
		if err := l.say(&l.unsaid[i], now); err != nil {
			left := 0
			for _, u := range l.unsaid {
				left += u.count
			}
			return fmt.Errorf("closing the log: %d calls were left out and it can't be said: %w", left, err)
		}
	}
	return nil
}
