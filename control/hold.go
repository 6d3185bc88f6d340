package control

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// hold is a pause that this process owes to the disk. It is never changed, only replaced.
type hold struct {
	note
	made bool // the mark is on disk and counts by itself; only its text is owed
}

// counts says whether the hold itself keeps the gate shut.
func (h *hold) counts() bool { return h != nil && !h.made }

func (h *hold) state() State {
	s := marked(CausePaused, h.note)
	s.Held = true
	return s
}

// orElse is the note of a mark on disk, completed by the hold that made it where its text is still owed.
func (h *hold) orElse(n note) note {
	if h != nil && h.made && n.why == "" {
		return h.note
	}
	return n
}

// Hold pauses the sandbox, because of why, in the wire's own name. The gate is shut before the disk is asked for
// anything. A sandbox that is paused already keeps its first reason.
func (g *Gate) Hold(why string) {
	if g == nil || g.name == "" {
		return
	}
	g.hold(note{why: clean(why), by: ByWire, since: time.Now()})
	g.mu.Lock()
	g.memory.shut = true
	g.memory.applied = g.memory.began // a look that began before the hold must not take it back
	g.mu.Unlock()
	if !g.silent.Load() {
		g.settle()
	}
	select {
	case g.nudged <- struct{}{}:
	default:
	}
}

// hold makes a hold count, unless one does already. One whose mark is made doesn't any more: that mark may be gone.
func (g *Gate) hold(n note) {
	h := &hold{note: n}
	for {
		old := g.held.Load()
		if old.counts() || g.held.CompareAndSwap(old, h) {
			return
		}
	}
}

// settle pays what the hold owes to the disk, as far as the disk takes it. Where somebody does already, that is left to
// them and to the next tick.
func (g *Gate) settle() {
	h := g.held.Load()
	if h == nil || !g.settling.TryLock() {
		return
	}
	defer g.settling.Unlock()
	if h.counts() {
		switch err := claim(g.pausedPath); {
		case err == nil:
			made := &hold{note: h.note, made: true}
			if !g.held.CompareAndSwap(h, made) {
				return
			}
			h = made
		case errors.Is(err, fs.ErrExist): // somebody's pause came first, and its reason stays
			g.held.CompareAndSwap(h, nil)
			return
		default:
			return
		}
	}
	if err := inscribe(g.pausedPath, h.note); !passing(err) {
		g.held.CompareAndSwap(h, nil)
	}
}

// passing says whether a text that couldn't be written may be later: the machine is out of something, as opposed to the
// mark being gone, somebody else's or not a file.
func passing(err error) bool {
	for _, want := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.ENOSPC, unix.EDQUOT, unix.EROFS, unix.EIO} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}
