package control

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"lnk/settings"

	"golang.org/x/sys/unix"
)

// patience is how long a look waits for a file system before it counts as unreadable. With a tick of a quarter of a
// second it leaves room within the second that open calls may outlive a stop.
const patience = 500 * time.Millisecond

var (
	errSilent   = errors.New("looking at the settings: the file system doesn't answer")
	errUnsteady = errors.New("looking at the settings: their folders change during each look")
)

// Gate is what one proxy looks at before each call. The zero value is closed: its state is CauseUnknown.
type Gate struct {
	name                        settings.Name
	stoppedPath, pausedPath     string
	sandboxFolder, pausedFolder string
	disk                        presence
	turn                        chan struct{} // holds a token while somebody looks
	held                        atomic.Pointer[hold]
	shut                        atomic.Bool   // closed, as far as anybody has seen
	openings                    atomic.Uint64 // how often it opened again
	nudged                      chan struct{} // Hold wakes Watch

	// What the looks before this one saw; whoever has the turn may use them.
	seen    folders
	inForce State // the last state that was open, stopped or paused
	lost    State // what was in force in folders that were replaced; zero: nothing
	stopped remembered
	paused  remembered
}

// remembered is a mark's note, as it was when the mark had that trace.
type remembered struct {
	trace trace
	note  note
}

// NewGate returns the gate of the sandbox called name. It looks at nothing: the first look does.
func NewGate(home settings.Home, name settings.Name) (*Gate, error) {
	if err := named(home, name); err != nil {
		return nil, fmt.Errorf("making a gate: %w", err)
	}
	return &Gate{
		name:          name,
		stoppedPath:   home.Stopped(),
		pausedPath:    home.Paused(name),
		sandboxFolder: filepath.Dir(home.Stopped()),
		pausedFolder:  home.PausedFolder(),
		disk:          onDisk,
		turn:          make(chan struct{}, 1),
		nudged:        make(chan struct{}, 1),
	}, nil
}

// named refuses what no path can be made of.
func named(home settings.Home, name settings.Name) error {
	if home.Dir() == "" {
		return errors.New("no settings folder is set")
	}
	_, err := settings.ParseName(string(name))
	return err
}

// Look looks at the files, each time, and says whether a call may pass. It returns within about half a second whatever
// the file system does, unless this very look is the one that hangs.
func (g *Gate) Look() State {
	if g == nil || g.name == "" {
		return State{}
	}
	if !g.take() {
		return unreadable(errSilent)
	}
	defer g.give()
	return g.look()
}

// take waits its turn: one look at a time, so that a file system that hangs holds one thread.
func (g *Gate) take() bool {
	select {
	case g.turn <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case g.turn <- struct{}{}:
		return true
	case <-timer.C:
		return false
	}
}

func (g *Gate) give() { <-g.turn }

// look glances until the folders stay the same; the first look takes two glances. The caller has the turn.
func (g *Gate) look() State {
	state := unreadable(errUnsteady)
	for range 4 {
		if s, steady := g.glance(); steady {
			state = s
			break
		}
	}
	if state.Cause != CauseUnreadable {
		g.inForce = state
	}
	if !state.Open() {
		g.shut.Store(true)
	} else if g.shut.Swap(false) {
		g.openings.Add(1)
	}
	return state
}

// glance reads the marks, then the folders. It isn't steady when the folders are others than at the glance before: an
// absent mark says nothing if its folder was changed around it.
//
// The order matters. The hold is read before the pause, since a hold ends after its file is made. The kill switch is
// read before the pause and once more after it, since a person may go from a stop to a pause or back without a moment
// in between in which the wire should be open.
func (g *Gate) glance() (State, bool) {
	held := g.held.Load()
	stop, stopErr := g.disk.mark(g.stoppedPath)
	pause, pauseErr := g.disk.mark(g.pausedPath)
	if stopErr != nil && pauseErr != nil {
		stop, stopErr = g.disk.mark(g.stoppedPath)
	}
	seen, seenErr := g.disk.folders(g.sandboxFolder, g.pausedFolder, g.seen)
	if seenErr == nil {
		if !g.recognise(seen) {
			return State{}, false
		}
		if g.carryOver(stopErr, pauseErr) {
			held = g.held.Load()
		}
	}
	switch {
	case stopErr == nil:
		return marked(CauseStopped, g.stopped.read(g.stoppedPath, stop)), true
	case stopErr != unix.ENOENT:
		return unreadable(fmt.Errorf("looking for a stop: %w", stopErr)), true
	case pauseErr == nil:
		return marked(CausePaused, held.orElse(g.paused.read(g.pausedPath, pause))), true
	case held.counts():
		return held.state(), true
	case pauseErr != unix.ENOENT:
		return unreadable(fmt.Errorf("looking for a pause: %w", pauseErr)), true
	case seenErr != nil:
		return unreadable(seenErr), true
	}
	return State{Cause: CauseOpen}, true
}

// recognise says whether the folders are those that were seen before. Where they aren't, it keeps what was in force in
// the old ones as lost.
func (g *Gate) recognise(now folders) bool {
	before := g.seen
	g.seen = now
	if before.same(now) {
		return true
	}
	switch {
	case before == folders{}: // this is the first look
	case g.inForce.Cause == CausePaused && now.paused.identity != before.paused.identity,
		g.inForce.Cause == CauseStopped && now.sandbox.identity != before.sandbox.identity:
		g.lost = g.inForce
	}
	return false
}

// carryOver holds what was lost with its folder and isn't in the new one: nobody took that mark away. A stop is held as
// a pause of this sandbox, since the kill switch is the user's alone to make. It says whether it held anything.
func (g *Gate) carryOver(stopErr, pauseErr error) bool {
	lost := g.lost
	if lost.Cause == CauseUnknown || pauseErr != nil && pauseErr != unix.ENOENT {
		return false
	}
	g.lost = State{}
	if pauseErr == nil || lost.Cause == CauseStopped && stopErr == nil {
		return false
	}
	if lost.Cause == CauseStopped {
		lost.Why = "stopped when the settings folder was replaced"
	}
	g.hold(note{lost.Why, lost.By, lost.Since})
	return true
}

// read returns the mark's note, from the disk only where the mark changed. A note that can't be read is empty but for
// the mark's time, and is tried again at the next look: it may need a descriptor that there isn't now.
func (r *remembered) read(path string, t trace) note {
	if r.trace == t && t != (trace{}) {
		return r.note
	}
	n, err := read(path)
	if err != nil {
		return note{since: time.Unix(t.mtime.Unix())}
	}
	*r = remembered{t, n}
	return n
}
