package control

import (
	"fmt"
	"strings"
	"time"
)

// What no normal work does.
const (
	maxRefusals    = 30 // refusals within refusalWindow
	refusalWindow  = time.Minute
	maxTargets     = 20 // different targets refused within targetWindow
	targetWindow   = 10 * time.Minute
	lookupWindow   = 10 * time.Second // what belongs to one lookup: its other types, and one call
	maxTallyTarget = 300              // octets of a host that are kept; names are at most 253
)

// The query types that a program asks for together when it wants to call a name (RFC 1035, 3596, 9460).
const (
	typeA     = 1
	typeAAAA  = 28
	typeHTTPS = 65
)

// tally counts refusals in two sliding windows. A window is half open: what is exactly as old as the window has left
// it.
//
// A refusal is a refused call, or a refused lookup that no call follows. A target is a host at a port; a host that was
// only looked up is one as well. The clock is passed in and must not go back. The zero value has counted nothing. It
// holds at most maxTargets targets, since it is full then. Not for more than one goroutine.
type tally struct {
	times [maxRefusals]time.Time // of the last refusals, a ring
	next  int                    // where the next one goes: the oldest
	hosts map[string]*refused
}

// refused is what one host was refused.
type refused struct {
	calls  map[uint16]time.Time // the last one at each port
	lookup time.Time            // the last lookup that counted
	types  uint8                // of A, AAAA and HTTPS, what that lookup has asked for
	called bool                 // a call was taken for that lookup's already
}

// call counts a refused call, and returns the pattern that it completes, or nothing.
func (t *tally) call(now time.Time, host string, port uint16) string {
	h := t.host(now, host)
	if h.lookup.IsZero() || now.Sub(h.lookup) >= lookupWindow || h.called {
		t.count(now)
	}
	h.called = true
	if h.calls == nil {
		h.calls = make(map[uint16]time.Time)
	}
	h.calls[port] = now
	return t.pattern(now)
}

// lookedUp counts a refused lookup, and returns the pattern that it completes, or nothing. The first A, AAAA and HTTPS
// query of a name within lookupWindow are one lookup; the same type once more is the next one.
func (t *tally) lookedUp(now time.Time, host string, qtype uint16) string {
	h := t.host(now, host)
	bit := typeBit(qtype)
	if !h.lookup.IsZero() && now.Sub(h.lookup) < lookupWindow && bit != 0 && h.types != 0 && h.types&bit == 0 {
		h.types |= bit
		return ""
	}
	h.lookup, h.types, h.called = now, bit, false
	t.count(now)
	return t.pattern(now)
}

func typeBit(qtype uint16) uint8 {
	switch qtype {
	case typeA:
		return 1
	case typeAAAA:
		return 2
	case typeHTTPS:
		return 4
	}
	return 0
}

func (t *tally) count(now time.Time) {
	t.times[t.next] = now
	t.next = (t.next + 1) % maxRefusals
}

// host is what host was refused, after what is too old was forgotten.
func (t *tally) host(now time.Time, host string) *refused {
	for name, h := range t.hosts {
		h.forget(now)
		if len(h.calls) == 0 && h.lookup.IsZero() {
			delete(t.hosts, name)
		}
	}
	host = host[:min(len(host), maxTallyTarget)]
	if h := t.hosts[host]; h != nil {
		return h
	}
	if t.hosts == nil {
		t.hosts = make(map[string]*refused)
	}
	h := new(refused)
	t.hosts[strings.Clone(host)] = h // the caller's string may be a small part of a large one
	return h
}

func (h *refused) forget(now time.Time) {
	for port, at := range h.calls {
		if now.Sub(at) >= targetWindow {
			delete(h.calls, port)
		}
	}
	if !h.lookup.IsZero() && now.Sub(h.lookup) >= targetWindow {
		h.lookup = time.Time{}
	}
}

// pattern is the one that is complete, in words.
func (t *tally) pattern(now time.Time) string {
	oldest := t.times[t.next]
	if !oldest.IsZero() && now.Sub(oldest) < refusalWindow {
		return fmt.Sprintf("%d refusals within a minute", maxRefusals)
	}
	targets := 0
	for _, h := range t.hosts {
		targets += max(len(h.calls), 1)
	}
	if targets >= maxTargets {
		return fmt.Sprintf("%d different targets refused within 10 minutes", maxTargets)
	}
	return ""
}
