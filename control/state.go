package control

import "time"

// Cause is why a wire is open or closed. The zero value is CauseUnknown, which is closed.
type Cause uint8

// The causes. All but CauseOpen are closed.
const (
	CauseUnknown    Cause = iota // nothing was looked at
	CauseOpen                    // nothing stops or pauses this sandbox
	CauseStopped                 // the kill switch is there
	CausePaused                  // this sandbox is paused
	CauseUnreadable              // the settings can't be looked at: counts as paused
)

// String is the cause as one word.
func (c Cause) String() string {
	switch c {
	case CauseOpen:
		return "open"
	case CauseStopped:
		return "stopped"
	case CausePaused:
		return "paused"
	case CauseUnreadable:
		return "unreadable"
	}
	return "unknown"
}

// ByWire is who paused a sandbox that its own wire paused.
const ByWire = "the wire"

// State is what one look found. The zero value is closed.
type State struct {
	Cause Cause
	Why   string    // for a person, one clean line; empty where nothing says why
	By    string    // who stopped or paused: ByWire, or a user's name; empty where nothing says so
	Since time.Time // zero where it isn't known
	Held  bool      // a pause that only this process knows of, because it can't be written yet
}

// Open says whether calls may pass.
func (s State) Open() bool { return s.Cause == CauseOpen }

// marked is the state that a mark with this note makes.
func marked(cause Cause, n note) State {
	return State{Cause: cause, Why: n.why, By: n.by, Since: n.since}
}

// unreadable is the state in which err keeps a look from finding out.
func unreadable(err error) State {
	return State{Cause: CauseUnreadable, Why: clean(err.Error())}
}
