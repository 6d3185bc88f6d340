package control

import (
	"context"
	"errors"
	"time"

	"lnk/settings"
)

var errLater = errors.New("not made yet")

// Gate is what one proxy looks at before each call, and every quarter of a second while it runs. The zero value is closed.
type Gate struct{ home settings.Home }

// NewGate returns the gate of the sandbox called name.
func NewGate(home settings.Home, name settings.Name) (*Gate, error) { return &Gate{home}, nil }

// Look looks at the files, each time.
func (g *Gate) Look() State { return State{} }

// Hold pauses the sandbox: in this process at once, and on disk as soon as it can be.
func (g *Gate) Hold(why string) {}

// Watch looks every so often until ctx ends, and tells changed each time the cause is another one than before; before the
// first look it is taken for open. It also writes a held pause as soon as it can. every ≤ 0 means 250 ms.
func (g *Gate) Watch(ctx context.Context, every time.Duration, changed func(State)) {}

// Stop makes the kill switch. Stopping twice is no error.
func Stop(home settings.Home) error { return errLater }

// Unstop takes the kill switch away, whatever it is. It is no error where there is none.
func Unstop(home settings.Home) error { return errLater }

// Stopped is the state of the kill switch alone: CauseOpen, CauseStopped or CauseUnreadable.
func Stopped(home settings.Home) State { return State{} }

// ErrNotPaused is returned by Resume for a sandbox that isn't paused.
var ErrNotPaused = errors.New("not paused")

// Pause pauses the sandbox called name. One that is paused already keeps its first reason, without an error.
func Pause(home settings.Home, name settings.Name, why, by string) error { return errLater }

// Resume ends a pause.
func Resume(home settings.Home, name settings.Name) error { return errLater }

// EndPause ends the pause of a run that has ended and has no name of its own; none is no error.
func EndPause(home settings.Home, name settings.Name) error { return errLater }

// PauseRecord is one pause as it stands on disk.
type PauseRecord struct {
	Name  settings.Name `json:"name"`
	Why   string        `json:"why"`
	By    string        `json:"by"`
	Since time.Time     `json:"since"`
}

// Paused lists the pauses by name. A record that can't be read is listed too, and told among the errors.
func Paused(home settings.Home) ([]PauseRecord, []error) { return nil, []error{errLater} }

// Watch counts what a sandbox is refused, and pauses it on a pattern that no normal work makes.
type Watch struct{ gate *Gate }

// WatchOptions are a watch's clock and whom it tells.
type WatchOptions struct {
	Now    func() time.Time // nil means time.Now
	Paused func(why string) // told once for each pause, in the refused call's goroutine: must not block
}

// NewWatch returns a watch that pauses through gate.
func NewWatch(gate *Gate, o WatchOptions) (*Watch, error) { return &Watch{gate}, nil }

// Refused counts a refused call to host (the bare name or address) and port. Not for calls that were refused because the
// wire was stopped, paused, unreadable or over its limit.
func (w *Watch) Refused(host string, port uint16) {}

// RefusedLookup counts a refused lookup of a name. Lookups of other types that follow within a few seconds belong to it, and so does
// the next call to that name. Each query is told here, with its type; 0 is a lookup whose types were put together by the caller.
func (w *Watch) RefusedLookup(host string, qtype uint16) {}

// Metadata pauses at once: target (as it shall stand in the reason) is a metadata service.
func (w *Watch) Metadata(target string) {}

// DefaultStopLimit is how long what runs with a stop may take.
const DefaultStopLimit = 10 * time.Second

// OnStop is one command that runs with the kill switch.
type OnStop struct {
	Name      settings.Name `json:"name"`
	Command   []string      `json:"command"`             // the program's path and its arguments; no shell reads it
	Directory string        `json:"directory,omitempty"` // where it runs; empty means /
	Limit     time.Duration `json:"limit,omitempty"`     // nanoseconds; 0 means DefaultStopLimit
}

// AddOnStop registers a command, in place of an earlier one of that name.
func AddOnStop(home settings.Home, o OnStop) error { return errLater }

// RemoveOnStop takes a registration away; one that isn't there is fs.ErrNotExist.
func RemoveOnStop(home settings.Home, name settings.Name) error { return errLater }

// ListOnStop lists the registrations by name, and what couldn't be read.
func ListOnStop(home settings.Home) ([]OnStop, []error) { return nil, []error{errLater} }

// OnStopResult is how one command went.
type OnStopResult struct {
	Name   settings.Name
	Err    error  // nil where it ended with status 0 in time
	Output string // the end of what it printed, cleaned
}

// RunOnStop runs all that is registered, at once, each within its limit, and says how each went. A broken record is a result with an error.
func RunOnStop(ctx context.Context, home settings.Home) []OnStopResult { return nil }

// Notify shows a notification on the desktop of the user called uid, within a second.
func Notify(ctx context.Context, uid int, summary, body string) error { return errLater }
