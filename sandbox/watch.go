package sandbox

import (
	"context"

	"lnk/control"
	"lnk/wirelog"
)

// newWatch makes the watch that pauses this sandbox, says so, and writes the line.
func newWatch(s *service) (*control.Watch, error) {
	r := s.run
	return control.NewWatch(r.gate, control.WatchOptions{Paused: func(why string) {
		_ = s.log.Write(wirelog.Record{
			Verb: wirelog.Pause, Target: wirelog.NameTarget(string(r.name)), Outcome: wirelog.Refused, Reason: why, Always: true,
		}) // the log itself says what it couldn't write
		s.serving.Go(func() { s.sayPaused(why) }) // a slow terminal or desktop must not hold up the wire
	}})
}

// sayPaused says it where it is seen: on the terminal, and on the caller's desktop where there is one.
func (s *service) sayPaused(why string) {
	r := s.run
	r.tell(Paused{Name: r.name, Why: why})
	s.notify("Sandbox "+string(r.name)+" is paused", why+"\nTo end it: lnk sandbox resume "+string(r.name))
}

// sayLogTrouble says it in the same places, when lines can't be written.
func (s *service) sayLogTrouble(text string) {
	s.run.tell(LogTrouble{text})
	s.serving.Go(func() { s.notify("The log of sandbox "+string(s.run.name), text) })
}

// notify shows a notification where there can be one. It ends by itself within a second; whatever it says is said elsewhere too.
func (s *service) notify(summary, body string) {
	_ = control.Notify(context.Background(), s.run.caller.UID, summary, body)
}

// callWatch tells the watch of the wire's refusals.
type callWatch struct{ *control.Watch }

// Metadata tells of a call to a metadata service.
func (w callWatch) Metadata(canonical, shown string) {
	if shown != "" && shown != canonical {
		canonical += " (as " + shown + ")"
	}
	w.Watch.Metadata(canonical)
}

// lookupWatch tells the watch of the refusals of names.
type lookupWatch struct{ *control.Watch }

// Refused tells of a refused lookup, its types put together.
func (w lookupWatch) Refused(name string) { w.Watch.RefusedLookup(name, 0) }
