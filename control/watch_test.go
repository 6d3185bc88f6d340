package control

import (
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// newWatch is a watch with a clock that stands still, and what it told.
func newWatch(t *testing.T, g *Gate) (*Watch, *[]string) {
	t.Helper()
	told := new([]string)
	w, err := NewWatch(g, WatchOptions{
		Now:    func() time.Time { return start },
		Paused: func(why string) { *told = append(*told, why) },
	})
	need(t, err)
	return w, told
}

func wantWatched(t *testing.T, told *[]string, want ...string) {
	t.Helper()
	if len(*told) != len(want) {
		t.Fatalf("told %q, want %q", *told, want)
	}
	for i := range want {
		if (*told)[i] != want[i] {
			t.Fatalf("told %q, want %q", *told, want)
		}
	}
}

func refuse(w *Watch, n int) {
	for range n {
		w.Refused("denied.test", 443)
	}
}

func TestTheThirtiethRefusalPauses(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	w, told := newWatch(t, g)
	refuse(w, 29)
	wantCause(t, g.Look(), CauseOpen)
	wantWatched(t, told)
	refuse(w, 1)
	s := g.Look()
	wantCause(t, s, CausePaused)
	if s.Why != refusalPattern || s.By != ByWire {
		t.Fatalf("the state is %+v", s)
	}
	wantWatched(t, told, refusalPattern)
}

func TestTheTwentiethTargetPauses(t *testing.T) {
	for _, kind := range []string{"calls", "lookups"} {
		g := newGate(t, newHome(t))
		w, told := newWatch(t, g)
		for i := range 20 {
			wantCause(t, g.Look(), CauseOpen)
			if kind == "calls" {
				w.Refused("h"+strconv.Itoa(i), 443)
			} else {
				w.RefusedLookup("h"+strconv.Itoa(i), typeA)
			}
		}
		wantCause(t, g.Look(), CausePaused)
		wantWatched(t, told, targetPattern)
	}
}

func TestACallToAMetadataServicePausesAtOnce(t *testing.T) {
	g := newGate(t, newHome(t))
	w, told := newWatch(t, g)
	w.Metadata("169.254.169.254:80 as \x1b[2J0xA9FEA9FE")
	const why = "a call to a metadata service, 169.254.169.254:80 as ?[2J0xA9FEA9FE"
	wantWatched(t, told, why)
	if s := g.Look(); s.Cause != CausePaused || s.Why != why {
		t.Fatalf("the state is %+v", s)
	}
}

func TestOnePauseIsToldOnce(t *testing.T) {
	home := newHome(t)
	w, told := newWatch(t, newGate(t, home))
	refuse(w, 100)
	w.Metadata("169.254.169.254:80")
	wantWatched(t, told, refusalPattern)
}

func TestAfterAResumeCountingStartsAnew(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	w, told := newWatch(t, g)
	refuse(w, 40)
	need(t, Resume(home, box))
	refuse(w, 29)
	wantCause(t, g.Look(), CauseOpen)
	refuse(w, 1)
	wantCause(t, g.Look(), CausePaused)
	need(t, Resume(home, box))
	w.Metadata("169.254.169.254:80")
	wantCause(t, g.Look(), CausePaused)
	wantWatched(t, told, refusalPattern, refusalPattern, "a call to a metadata service, 169.254.169.254:80")
}

func TestAfterAPauseByHandCountingStartsAnewToo(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	w, told := newWatch(t, g)
	refuse(w, 29)
	need(t, Pause(home, box, "lunch", "ada"))
	wantCause(t, g.Look(), CausePaused)
	need(t, Resume(home, box))
	wantCause(t, g.Look(), CauseOpen)
	refuse(w, 29)
	wantCause(t, g.Look(), CauseOpen)
	wantWatched(t, told)
}

func TestAWatchWhosePauseCannotBeWrittenPausesAllTheSame(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	w, told := newWatch(t, g)
	need(t, os.Remove(home.PausedFolder()))
	refuse(w, 100)
	s := g.Look()
	wantCause(t, s, CausePaused)
	if !s.Held {
		t.Fatalf("the state is %+v", s)
	}
	wantWatched(t, told, refusalPattern)
	need(t, home.Ensure())
	tick(g)
	need(t, Resume(home, box))
	refuse(w, 29)
	wantCause(t, g.Look(), CauseOpen)
	refuse(w, 1)
	wantCause(t, g.Look(), CausePaused)
}

func TestOneSandboxsAbuseIsItsOwn(t *testing.T) {
	home := newHome(t)
	w, _ := newWatch(t, newGate(t, home))
	other, err := NewGate(home, "other")
	need(t, err)
	w.Metadata("169.254.169.254:80")
	wantCause(t, other.Look(), CauseOpen)
}

func TestManyRefusalsAtOncePauseOnce(t *testing.T) {
	g := newGate(t, newHome(t))
	var told atomic.Int32
	w, err := NewWatch(g, WatchOptions{Paused: func(string) {
		told.Add(1)
		if g.Look().Open() {
			t.Error("told before the gate was shut")
		}
	}})
	need(t, err)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range 100 {
				switch n % 3 {
				case 0:
					w.Refused("h"+strconv.Itoa(i), uint16(n))
				case 1:
					w.RefusedLookup("h"+strconv.Itoa(n), typeAAAA)
				case 2:
					w.Metadata("169.254.169.254:80")
				}
			}
		})
	}
	wg.Wait()
	if told.Load() != 1 {
		t.Fatalf("told %d times", told.Load())
	}
}

func TestAWatchNeedsAGate(t *testing.T) {
	for _, g := range []*Gate{nil, new(Gate)} {
		if _, err := NewWatch(g, WatchOptions{}); err == nil {
			t.Error("a watch without a gate was made")
		}
	}
}
