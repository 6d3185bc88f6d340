package sandbox

import (
	"lnk/policy"
	"lnk/settings"
)

// Event is something that a run has to say to the person who started it; one of the types below. It is told from
// any of the run's goroutines, one at a time.
type Event interface{ event() }

// Started says that the program is about to run.
type Started struct {
	Name    settings.Name
	Mode    policy.Mode
	Network string   // what the network is, in one line
	Closed  string   // why no call will pass yet (stopped, paused); empty where they may
	NoIPv6  bool     // this machine has IPv6 switched off, and so has the room
	Vain    []string // what the spec allows to no effect
}

// SpecChanged says that the spec was read again and now holds.
type SpecChanged struct {
	Path    string
	Network string
	Later   bool // it names ports of this machine that have no listener at localhost: a new run gives them one
}

// SpecKept says that the spec changed, but what it says now can't hold: the last good one still does.
type SpecKept struct {
	Path string
	Err  error
}

// Paused says that the sandbox was paused by its own watch.
type Paused struct {
	Name settings.Name
	Why  string
}

// LogTrouble says what the log couldn't do, or had to leave out.
type LogTrouble struct{ Text string }

func (Started) event()     {}
func (SpecChanged) event() {}
func (SpecKept) event()    {}
func (Paused) event()      {}
func (LogTrouble) event()  {}
