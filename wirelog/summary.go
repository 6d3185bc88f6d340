package wirelog

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
)

// Sum is what was called at one target. Its JSON names, and those of Summary, don't change.
type Sum struct {
	Target  Target    `json:"target"`
	Allowed int       `json:"allowed"` // calls; one that only ended is in none of the three
	Refused int       `json:"refused"`
	Failed  int       `json:"failed"`
	Out     int64     `json:"out"` // bytes of the calls that ended
	In      int64     `json:"in"`
	First   time.Time `json:"first"` // of its lines
	Last    time.Time `json:"last"`
}

// Calls is how many calls were logged.
func (s Sum) Calls() int { return s.Allowed + s.Refused + s.Failed }

// Summary is a log by target.
type Summary struct {
	Targets    []Sum           `json:"targets"`    // those with most calls first, then by name
	Total      Sum             `json:"total"`      // of all of them; its target is the zero value
	LeftOut    map[Outcome]int `json:"left_out"`   // calls that were left out; whose they were isn't known
	Unreadable int             `json:"unreadable"` // lines
}

// Summarize counts calls by target; the lines of pauses are none. The error joins those of the files that couldn't be read; the rest is counted.
func Summarize(lines iter.Seq2[Line, error]) (Summary, error) {
	sums := map[Target]*Sum{}
	all := Summary{LeftOut: map[Outcome]int{}}
	var errs []error
	for l, err := range lines {
		switch {
		case err != nil:
			errs = append(errs, err)
		case l.Err != nil:
			all.Unreadable++
		default:
			if l.Record.More > 0 {
				all.LeftOut[l.Record.Outcome] += l.Record.More
			}
			if l.Record.Verb == Pause { // no call: somebody, or the watch, paused the sandbox or ended that
				continue
			}
			t := l.Record.Target
			if sums[t] == nil {
				sums[t] = &Sum{Target: Target{strings.Clone(t.s)}} // not the whole line
			}
			sums[t].add(l.Record)
			all.Total.add(l.Record)
		}
	}
	for _, s := range sums {
		all.Targets = append(all.Targets, *s)
	}
	slices.SortFunc(all.Targets, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(b.Calls(), a.Calls()), cmp.Compare(a.Target.s, b.Target.s))
	})
	return all, errors.Join(errs...)
}

func (s *Sum) add(r Record) {
	switch r.Outcome {
	case Allowed:
		s.Allowed++
	case Refused:
		s.Refused++
	case Failed:
		s.Failed++
	}
	s.Out += r.Out
	s.In += r.In
	if s.First.IsZero() || r.Time.Before(s.First) {
		s.First = r.Time
	}
	if r.Time.After(s.Last) {
		s.Last = r.Time
	}
}
