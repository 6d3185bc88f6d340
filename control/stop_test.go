package control

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"lnk/settings"
)

func TestStoppingAndUnstopping(t *testing.T) {
	home := newHome(t)
	wantCause(t, Stopped(home), CauseOpen)
	need(t, Unstop(home))
	need(t, Stop(home))
	first := Stopped(home)
	wantCause(t, first, CauseStopped)
	wantRecent(t, first.Since)
	need(t, Stop(home))
	if again := Stopped(home); !again.Since.Equal(first.Since) {
		t.Fatalf("the second stop changed the first: %+v, %+v", first, again)
	}
	need(t, Unstop(home))
	wantCause(t, Stopped(home), CauseOpen)
}

func TestStoppingAfterAnythingElseThatStops(t *testing.T) {
	for kind, make := range kinds {
		t.Run(kind, func(t *testing.T) {
			home := newHome(t)
			make(t, home.Stopped())
			wantCause(t, Stopped(home), CauseStopped)
			need(t, Stop(home))
			err := Unstop(home)
			if kind == "a folder with files" {
				if err == nil || !strings.Contains(err.Error(), "folder that holds files") {
					t.Fatalf("ending the stop: %v", err)
				}
				wantCause(t, Stopped(home), CauseStopped)
				return
			}
			need(t, err)
			wantCause(t, Stopped(home), CauseOpen)
		})
	}
}

func TestStoppingMakesTheSettingsFolder(t *testing.T) {
	home := newHome(t)
	need(t, os.RemoveAll(home.Dir()))
	wantCause(t, Stopped(home), CauseUnreadable)
	if err := Unstop(home); err == nil {
		t.Fatal("ending a stop in no folder says that it ended")
	}
	need(t, Stop(home))
	wantCause(t, newGate(t, home).Look(), CauseStopped)
}

func TestStoppingWorksThoughTheFoldersCannotAllBeMade(t *testing.T) {
	home := newHome(t)
	need(t, os.RemoveAll(home.AgentFolder()))
	need(t, os.WriteFile(home.AgentFolder(), nil, 0o600))
	need(t, Stop(home))
	wantCause(t, Stopped(home), CauseStopped)
}

func TestWithoutSettingsNothingIsStoppedOrPaused(t *testing.T) {
	t.Chdir(t.TempDir()) // a path made of nothing would be a relative one
	var none settings.Home
	for what, err := range map[string]error{
		"Stop": Stop(none), "Unstop": Unstop(none), "Pause": Pause(none, box, "", ""), "Resume": Resume(none, box),
		"EndPause": EndPause(none, box), "AddOnStop": AddOnStop(none, OnStop{Name: box, Command: []string{"/bin/true"}}),
		"RemoveOnStop": RemoveOnStop(none, box),
		"a bad name":   Pause(newHome(t), "../x", "", ""), "no name": Resume(newHome(t), ""),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if Stopped(none).Open() {
		t.Error("nothing is open")
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// The promise itself is a time: fifty sandboxes with 200 open calls each, all ended within a second.
func TestFiftyGatesAreShutWithinASecondOfAStop(t *testing.T) {
	home := newHome(t)
	ctx, cancel := context.WithCancel(t.Context())
	var ready, shut, ended sync.WaitGroup
	ready.Add(50)
	shut.Add(50)
	for range 50 {
		g := newGate(t, home)
		calls, end := context.WithCancel(t.Context())
		for range 200 {
			ended.Go(func() { <-calls.Done() })
		}
		wantCause(t, g.Look(), CauseOpen)
		ended.Go(func() {
			ready.Done()
			g.Watch(ctx, 0, func(State) { end(); shut.Done() })
		})
	}
	ready.Wait()
	begin := time.Now()
	need(t, Stop(home))
	shut.Wait()
	took := time.Since(begin)
	cancel()
	ended.Wait()
	t.Logf("the last of 50 after %v", took)
	if took > time.Second {
		t.Fatalf("the last gate was shut after %v", took)
	}
}
