package control

import (
	"os"
	"sync"
	"testing"

	"lnk/settings"
)

func TestAHoldIsOnDiskWhenItReturns(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	g.Hold("30 refusals within a minute")
	s := newGate(t, home).Look()
	wantCause(t, s, CausePaused)
	if s.Why != "30 refusals within a minute" || s.By != ByWire || s.Held {
		t.Fatalf("the state is %+v", s)
	}
	wantRecent(t, s.Since)
	need(t, Resume(home, box))
	wantCause(t, g.Look(), CauseOpen)
	wantCause(t, tick(g), CauseOpen)
}

func TestAHoldKeepsTheFirstReason(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	need(t, Pause(home, box, "lunch", "ada"))
	g.Hold("30 refusals within a minute")
	s := g.Look()
	if s.Why != "lunch" || s.By != "ada" {
		t.Fatalf("the state is %+v", s)
	}
	need(t, Resume(home, box))
	wantCause(t, tick(g), CauseOpen)
}

func TestAHoldThatCannotBeWrittenCountsUntilItIs(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	need(t, os.Remove(home.PausedFolder()))
	g.Hold("30 refusals within a minute")
	g.Hold("20 different targets refused within 10 minutes")
	for range 3 {
		s := tick(g)
		wantCause(t, s, CausePaused)
		if !s.Held || s.Why != "30 refusals within a minute" || s.By != ByWire {
			t.Fatalf("the state is %+v", s)
		}
	}
	if err := Resume(home, box); err == nil {
		t.Fatal("a pause that only a process knows was resumed")
	}
	need(t, home.Ensure())
	wantCause(t, g.Look(), CausePaused) // held still: no tick yet
	s := tick(g)
	wantCause(t, s, CausePaused)
	if s.Held || !exists(home.Paused(box)) {
		t.Fatalf("the state is %+v, want a file", s)
	}
	need(t, Resume(home, box))
	wantCause(t, g.Look(), CauseOpen)
	wantCause(t, tick(g), CauseOpen)
}

func TestAHoldGivesWayToAPauseThatWasMadeMeanwhile(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	need(t, os.Remove(home.PausedFolder()))
	g.Hold("30 refusals within a minute")
	need(t, Pause(home, box, "lunch", "ada")) // makes the folder
	s := tick(g)
	if s.Why != "lunch" || s.Held {
		t.Fatalf("the state is %+v", s)
	}
	need(t, Resume(home, box))
	wantCause(t, tick(g), CauseOpen)
}

// owed is a gate whose pause has its mark but not its text.
func owed(t *testing.T, home settings.Home) *Gate {
	g := newGate(t, home)
	need(t, claim(home.Paused(box)))
	g.held.Store(&hold{note: note{why: "owed", by: ByWire}, made: true})
	return g
}

func TestAPauseWhoseTextIsOwed(t *testing.T) {
	t.Run("says why by what the process knows", func(t *testing.T) {
		g := owed(t, newHome(t))
		s := g.Look()
		wantCause(t, s, CausePaused)
		if s.Why != "owed" || s.Held {
			t.Fatalf("the state is %+v", s)
		}
	})
	t.Run("gets its text with the next tick", func(t *testing.T) {
		home := newHome(t)
		tick(owed(t, home))
		if s := newGate(t, home).Look(); s.Why != "owed" {
			t.Fatalf("the state is %+v", s)
		}
	})
	t.Run("is resumed by removing the file, and stays so", func(t *testing.T) {
		home := newHome(t)
		g := owed(t, home)
		need(t, Resume(home, box))
		wantCause(t, g.Look(), CauseOpen)
		wantCause(t, tick(g), CauseOpen)
		if exists(home.Paused(box)) {
			t.Fatal("the pause came back")
		}
	})
	t.Run("doesn't write over another pause's text", func(t *testing.T) {
		home := newHome(t)
		g := owed(t, home)
		need(t, Resume(home, box))
		need(t, Pause(home, box, "lunch", "ada"))
		if s := tick(g); s.Why != "lunch" || s.By != "ada" {
			t.Fatalf("the state is %+v", s)
		}
	})
	t.Run("doesn't keep the next hold from counting", func(t *testing.T) {
		home := newHome(t)
		g := owed(t, home)
		need(t, os.RemoveAll(home.PausedFolder()))
		g.Hold("again")
		s := g.Look()
		wantCause(t, s, CausePaused)
		if !s.Held || s.Why != "again" {
			t.Fatalf("the state is %+v", s)
		}
	})
	t.Run("is let go where the mark became something else", func(t *testing.T) {
		home := newHome(t)
		g := owed(t, home)
		need(t, os.Remove(home.Paused(box)))
		need(t, os.Mkdir(home.Paused(box), 0o700))
		wantCause(t, tick(g), CausePaused)
		if g.held.Load() != nil {
			t.Fatal("the hold is kept")
		}
	})
}

// A hold that ends in the middle of a look must be seen as one or the other.
func TestNoLookFallsBetweenAHoldAndItsFile(t *testing.T) {
	for step := 1; step <= 6; step++ {
		home := newHome(t)
		g := newGate(t, home)
		wantCause(t, g.Look(), CauseOpen)
		g.hold(note{why: "odd"})
		g.disk = between(onDisk, func(n int) {
			if n == step {
				g.settle()
			}
		})
		if s := g.Look(); s.Open() {
			t.Errorf("settled in step %d of a look: the gate is open", step)
		}
	}
}

func TestManyLookHoldPauseAndResumeAtOnce(t *testing.T) {
	home := newHome(t)
	gates := []*Gate{newGate(t, home), newGate(t, home)}
	var wg sync.WaitGroup
	for i := range 8 {
		g := gates[i%2]
		wg.Go(func() {
			for range 200 {
				switch i {
				case 0:
					g.Hold("odd")
					if s := g.Look(); s.Cause == CauseUnreadable {
						t.Errorf("unreadable: %s", s.Why)
					}
				case 1:
					if err := Pause(home, box, "lunch", "ada"); err != nil {
						t.Error(err)
					}
				case 2:
					if err := EndPause(home, box); err != nil {
						t.Error(err)
					}
				case 3:
					tick(g)
				default:
					if s := g.Look(); s.Cause != CauseOpen && s.Cause != CausePaused {
						t.Errorf("%v: %s", s.Cause, s.Why)
					}
				}
			}
		})
	}
	wg.Wait()
	for _, g := range gates {
		tick(g)
	}
	need(t, EndPause(home, box))
	for _, g := range gates {
		wantCause(t, tick(g), CauseOpen)
		if g.held.Load() != nil {
			t.Error("a hold was left over")
		}
	}
}
