package control

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// memory is what looks leave to later ones.
type memory struct {
	began   uint64   // glances so far; a glance's number is its place in their order
	applied uint64   // the latest of them that left its state here: an earlier one that took longer doesn't
	first   identity // the sandbox folder as the first look found it
	seen    folders
	inForce State // the last state that was open, stopped or paused
	lost    State // what was in force in folders that were replaced; zero: nothing
	shut    bool  // closed, as far as anybody has seen
	stopped remembered
	paused  remembered
}

// remembered is a mark's note, as it was when the mark had that trace.
type remembered struct {
	trace trace
	note  note
}

// glance is what one pass over the disk found, and what was known before it.
type glance struct {
	before            memory
	held              *hold
	stop, pause       trace
	stopErr, pauseErr error
	stopped, paused   remembered // of the marks that are there
	seen              folders
	seenErr           error
}

// glance reads the marks, then the folders. The order matters. The hold is read before the pause, since a hold ends
// after its file is made. The kill switch is read before the pause, and once more after it if anything in the folders
// changed since the glance before: a person may go from a stop to a pause or back without a moment in between in which
// the wire should be open.
func (g *Gate) glance() glance {
	gl := glance{before: g.remember(), held: g.held.Load()}
	gl.stop, gl.stopErr = g.disk.mark(g.stoppedPath)
	gl.pause, gl.pauseErr = g.disk.mark(g.pausedPath)
	gl.seen, gl.seenErr = g.disk.folders(g.sandboxFolder, g.pausedFolder, gl.before.seen)
	if gl.stopErr != nil && gl.pauseErr != nil && !gl.seen.untouched(gl.before.seen) {
		gl.stop, gl.stopErr = g.disk.mark(g.stoppedPath)
	}
	if gl.stopErr == nil {
		gl.stopped = gl.before.stopped.refreshed(g.stoppedPath, gl.stop)
	} else if gl.pauseErr == nil {
		gl.paused = gl.before.paused.refreshed(g.pausedPath, gl.pause)
	}
	return gl
}

// remember gives a glance its number and a copy of what is known.
func (g *Gate) remember() memory {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.memory.began++
	return g.memory
}

// refreshed reads the mark's note from the disk where the mark changed. A note that can't be read is empty but for the
// mark's time, and is tried again at the next look: it may need a descriptor that there isn't now.
func (r remembered) refreshed(path string, t trace) remembered {
	if r.trace == t {
		return r
	}
	n, err := read(path)
	if err != nil {
		return remembered{note: note{since: time.Unix(t.mtime.Unix())}}
	}
	return remembered{t, n}
}

// judge makes a state of a glance. It isn't steady when the folders are others than before it: a mark that is absent
// from a folder says nothing if the folder was changed around it.
func (g *Gate) judge(gl glance) (s State, steady bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := &g.memory
	if gl.seenErr == nil {
		if !gl.seen.same(gl.before.seen) {
			m.recognise(gl)
			return State{}, false
		}
		if !gl.before.seen.same(m.seen) { // another glance saw them change
			return State{}, false
		}
		m.seen = gl.seen
		if lost, ok := m.toCarryOver(gl); ok {
			g.hold(lost)
			gl.held = g.held.Load()
		}
	}
	if s = gl.state(); s.Open() && m.first != gl.seen.sandbox.identity {
		s = unreadable(errReplaced)
	}
	if gl.before.began > m.applied {
		m.applied = gl.before.began
		if m.apply(gl, s) {
			g.openings.Add(1)
		}
	}
	return s, true
}

// state is what a steady glance says. Open is what remains when everything else is ruled out.
func (gl glance) state() State {
	switch {
	case gl.stopErr == nil:
		return marked(CauseStopped, gl.stopped.note)
	case gl.stopErr != unix.ENOENT:
		return unreadable(fmt.Errorf("looking for a stop: %w", gl.stopErr))
	case gl.pauseErr == nil:
		return marked(CausePaused, gl.held.orElse(gl.paused.note))
	case gl.held.counts():
		return gl.held.state()
	case gl.pauseErr != unix.ENOENT:
		return unreadable(fmt.Errorf("looking for a pause: %w", gl.pauseErr))
	case gl.seenErr != nil:
		return unreadable(gl.seenErr)
	}
	return State{Cause: CauseOpen}
}

// apply takes a state into the memory, and says whether the gate opened again with it.
func (m *memory) apply(gl glance, s State) (opened bool) {
	opened = s.Open() && m.shut
	m.shut = !s.Open()
	if s.Cause != CauseUnreadable {
		m.inForce = s
	}
	m.stopped, m.paused = gl.stopped, gl.paused
	return opened
}

// recognise takes other folders for the ones to look at, and keeps what was in force in the old ones as lost.
func (m *memory) recognise(gl glance) {
	if !gl.before.seen.same(m.seen) {
		return // another glance did
	}
	before := m.seen
	m.seen = gl.seen
	switch {
	case before == folders{}: // this is the first look
		m.first = gl.seen.sandbox.identity
	case m.inForce.Cause == CausePaused && gl.seen.paused.identity != before.paused.identity,
		m.inForce.Cause == CauseStopped && gl.seen.sandbox.identity != before.sandbox.identity:
		m.lost = m.inForce
	}
}

// toCarryOver is what was lost with its folder and isn't in the new one: nobody took that mark away. A stop becomes a
// pause of this sandbox, since the kill switch is the user's alone to make.
func (m *memory) toCarryOver(gl glance) (note, bool) {
	lost := m.lost
	if lost.Cause == CauseUnknown || gl.pauseErr != nil && gl.pauseErr != unix.ENOENT {
		return note{}, false
	}
	m.lost = State{}
	if gl.pauseErr == nil || lost.Cause == CauseStopped && gl.stopErr == nil {
		return note{}, false
	}
	if lost.Cause == CauseStopped {
		lost.Why = "stopped when the settings folder was replaced"
	}
	return note{lost.Why, lost.By, lost.Since}, true
}
