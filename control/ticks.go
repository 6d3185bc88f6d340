package control

import (
	"context"
	"time"
)

// DefaultEvery is how often Gate.Watch looks where it isn't told.
const DefaultEvery = 250 * time.Millisecond

// Watch looks at once and then every so often (0: DefaultEvery) until ctx ends, and tells changed each time the cause
// is another one than it told before; it begins with open. So the first thing told is that the gate is shut, and open
// calls have to end. changed runs in this goroutine: while it works, nobody looks. Watch also makes the mark of a held
// pause as soon as it can be made, and tries a last time when ctx ends.
//
// A file system that doesn't answer counts as unreadable after three seconds. The look that hangs in it is the one
// goroutine that can outlive Watch, until the kernel gives it back.
func (g *Gate) Watch(ctx context.Context, every time.Duration, changed func(State)) {
	if g == nil || g.name == "" {
		changed(State{})
		<-ctx.Done()
		return
	}
	if every <= 0 {
		every = DefaultEvery
	}
	looks := newLooker(g)
	defer looks.close()
	tick := time.NewTicker(every)
	defer tick.Stop()
	told := CauseOpen
	for {
		if s := looks.look(); s.Cause != told {
			told = s.Cause
			changed(s)
		}
		select {
		case <-ctx.Done():
			looks.look()
			return
		case <-tick.C:
		case <-g.nudged:
		}
	}
}

// looker looks in a goroutine of its own, so that a look that hangs holds up nobody but itself.
type looker struct {
	gate    *Gate
	asked   chan struct{}
	answers chan State
	ended   chan struct{}
	pending bool // a look was asked for and has not answered
}

func newLooker(g *Gate) *looker {
	l := &looker{
		gate:    g,
		asked:   make(chan struct{}, 1),
		answers: make(chan State, 1),
		ended:   make(chan struct{}),
	}
	go func() {
		defer close(l.ended)
		for range l.asked {
			g.settle()
			l.answers <- g.look()
		}
	}()
	return l
}

// look asks for a look and waits for its answer, or for patience to end. A late answer is dropped: it is older than
// the question.
func (l *looker) look() State {
	timer := time.NewTimer(patience / shares)
	defer timer.Stop()
	if l.pending {
		if _, ok := l.await(timer); !ok {
			return unreadable(errSilent)
		}
	}
	l.asked <- struct{}{}
	if s, ok := l.await(timer); ok {
		return s
	}
	return unreadable(errSilent)
}

// await waits for the answer to what was asked, in shares.
func (l *looker) await(timer *time.Timer) (State, bool) {
	for range shares {
		select {
		case s := <-l.answers:
			l.pending = false
			l.gate.silent.Store(false)
			return s, true
		case <-timer.C:
			timer.Reset(patience / shares)
		}
	}
	l.pending = true
	l.gate.silent.Store(true)
	return State{}, false
}

// close waits for the goroutine, unless it hangs.
func (l *looker) close() {
	close(l.asked)
	if !l.pending {
		<-l.ended
	}
}
