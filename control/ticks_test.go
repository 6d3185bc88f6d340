package control

import (
	"context"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// watched runs f in a bubble of fake time, in which a gate is watched; f gets what changed is told.
func watched(t *testing.T, g *Gate, every time.Duration, f func(t *testing.T, told <-chan State)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g.looks, g.nudged = make(chan struct{}, maxLooks), make(chan struct{}, 1) // of this bubble
		ctx, stop := context.WithCancel(t.Context())
		told := make(chan State, 100)
		var wg sync.WaitGroup
		wg.Go(func() { g.Watch(ctx, every, func(s State) { told <- s }) })
		synctest.Wait()
		f(t, told)
		stop()
		wg.Wait()
	})
}

// wantTold waits for the next thing told, at most a second of the bubble's time.
func wantTold(t *testing.T, told <-chan State, want Cause) State {
	t.Helper()
	return wantToldWithin(t, told, want, time.Second)
}

// wantToldWithin lets a time of the bubble's pass.
func wantToldWithin(t *testing.T, told <-chan State, want Cause, d time.Duration) State {
	t.Helper()
	select {
	case s := <-told:
		wantCause(t, s, want)
		return s
	case <-time.After(d):
		t.Fatalf("%v wasn't told within %v", want, d)
	}
	return State{}
}

// wantSilence lets the time pass and wants nothing told in it.
func wantSilence(t *testing.T, told <-chan State, d time.Duration) {
	t.Helper()
	select {
	case s := <-told:
		t.Fatalf("%v (%s) was told", s.Cause, s.Why)
	case <-time.After(d):
	}
}

func TestTheWatchTellsEachChangeWithinASecond(t *testing.T) {
	home := newHome(t)
	watched(t, newGate(t, home), 0, func(t *testing.T, told <-chan State) {
		wantSilence(t, told, time.Minute)
		need(t, Stop(home))
		wantTold(t, told, CauseStopped)
		wantSilence(t, told, time.Minute)
		need(t, Pause(home, box, "lunch", "ada"))
		wantSilence(t, told, time.Minute)
		need(t, Unstop(home))
		if s := wantTold(t, told, CausePaused); s.Why != "lunch" {
			t.Fatalf("told %+v", s)
		}
		need(t, os.RemoveAll(home.Dir()))
		wantTold(t, told, CauseUnreadable)
		need(t, home.Ensure())
		wantTold(t, told, CausePaused) // carried over
		wantSilence(t, told, time.Second)
		need(t, Resume(home, box))
		wantTold(t, told, CauseUnreadable) // the folder is another one
	})
}

func TestWhatStopsBeforeTheStartIsToldAtOnce(t *testing.T) {
	home := newHome(t)
	need(t, Stop(home))
	watched(t, newGate(t, home), time.Hour, func(t *testing.T, told <-chan State) {
		wantTold(t, told, CauseStopped)
	})
}

func TestAHoldIsToldWithoutWaitingForATick(t *testing.T) {
	g := newGate(t, newHome(t))
	watched(t, g, time.Hour, func(t *testing.T, told <-chan State) {
		g.Hold("odd")
		if s := wantTold(t, told, CausePaused); s.Why != "odd" {
			t.Fatalf("told %+v", s)
		}
	})
}

func TestTheWatchWritesAHeldPauseWhenItCan(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	watched(t, g, 0, func(t *testing.T, told <-chan State) {
		need(t, os.Remove(home.PausedFolder()))
		g.Hold("odd")
		if s := wantTold(t, told, CausePaused); !s.Held {
			t.Fatalf("told %+v", s)
		}
		wantSilence(t, told, time.Hour)
		need(t, home.Ensure())
		wantSilence(t, told, time.Second)
		if !exists(home.Paused(box)) {
			t.Fatal("the pause wasn't written within a second")
		}
	})
}

func TestTheWatchWritesAHeldPauseWhenItEnds(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	watched(t, g, time.Hour, func(t *testing.T, told <-chan State) {
		need(t, os.Remove(home.PausedFolder()))
		g.Hold("odd")
		wantTold(t, told, CausePaused)
		need(t, home.Ensure())
	})
	if !exists(home.Paused(box)) {
		t.Fatal("the pause wasn't written")
	}
}

// hanging is a disk that can be made to hang.
type hanging struct {
	mu   sync.Mutex
	wait chan struct{} // not nil while it hangs
}

func (h *hanging) presence() presence {
	return presence{folder: onDisk.folder, mark: func(path string) (trace, error) {
		h.mu.Lock()
		wait := h.wait
		h.mu.Unlock()
		if wait != nil {
			<-wait
		}
		return onDisk.mark(path)
	}}
}

func (h *hanging) hang() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wait = make(chan struct{})
}

func (h *hanging) goOn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.wait)
	h.wait = nil
}

func TestAFileSystemThatHangsShutsTheGateWhenPatienceEnds(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	var disk hanging
	g.disk = disk.presence()
	watched(t, g, 0, func(t *testing.T, told <-chan State) {
		wantSilence(t, told, time.Second)
		disk.hang()
		s := wantToldWithin(t, told, CauseUnreadable, patience+time.Second)
		wantWhy(t, s, "doesn't answer")
		// One look hangs. The others give up, and so does a hold, which counts all the same.
		for range 100 {
			go g.Look()
		}
		wantCause(t, g.Look(), CauseUnreadable)
		g.Hold("odd")
		wantSilence(t, told, time.Minute)
		disk.goOn()
		wantTold(t, told, CausePaused)
		if !exists(home.Paused(box)) {
			t.Fatal("the pause wasn't written")
		}
	})
}

func TestAFileSystemThatHangsHoldsABoundedNumberOfLooks(t *testing.T) {
	g := newGate(t, newHome(t))
	var disk hanging
	g.disk = disk.presence()
	synctest.Test(t, func(t *testing.T) {
		g.looks = make(chan struct{}, maxLooks) // of this bubble
		disk.hang()
		states := make(chan State, 2000)
		for range 2000 {
			go func() { states <- g.Look() }()
		}
		<-time.After(patience + time.Second) // of the bubble's time: everybody's patience is over
		if got := len(states); got != 2000-maxLooks {
			t.Errorf("%d of 2000 looks gave up, want all but %d", got, maxLooks)
		}
		for range 2000 - maxLooks {
			wantCause(t, <-states, CauseUnreadable)
		}
		disk.goOn()
		for range maxLooks {
			wantCause(t, <-states, CauseOpen)
		}
		wantCause(t, g.Look(), CauseOpen)
	})
}

func TestTheWatchEndsThoughALookHangs(t *testing.T) {
	g := newGate(t, newHome(t))
	var disk hanging
	g.disk = disk.presence()
	watched(t, g, 0, func(t *testing.T, told <-chan State) {
		disk.hang()
		wantToldWithin(t, told, CauseUnreadable, patience+time.Second)
		t.Cleanup(disk.goOn) // after the watch has ended
	})
}

func TestWatchingAGateThatNobodyMadeTellsThatItIsShut(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var got []State
	new(Gate).Watch(ctx, 0, func(s State) { got = append(got, s); stop() })
	if len(got) != 1 || got[0].Open() {
		t.Fatalf("told %v", got)
	}
}
