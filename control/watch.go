package control

import (
	"errors"
	"sync"
	"time"
)

// Watch counts what one sandbox is refused, and pauses it through its gate on a pattern that no normal work makes: 30
// refusals within a minute, 20 different targets refused within 10 minutes, or one call to a metadata service.
//
// It is told each refusal, also those that the log leaves out, but none whose reason is that the wire is stopped,
// paused, unreadable or over its limit. Once it has paused the sandbox it counts nothing until the gate has opened
// again, and then from the start; so it does after any pause or stop.
type Watch struct {
	gate   *Gate
	now    func() time.Time
	paused func(why string)

	mu       sync.Mutex
	tally    tally
	openings uint64 // the gate's, when this counting began
	done     bool   // it has paused the sandbox
}

// WatchOptions are a watch's clock and whom it tells.
type WatchOptions struct {
	// Now is the clock, which must not go back; nil means time.Now.
	Now func() time.Time
	// Paused is told once for each pause that the watch makes, in the refused call's goroutine, after the gate is shut.
	// So it must not block (Notify does, for up to a second). nil tells nobody.
	Paused func(why string)
}

// NewWatch returns a watch that pauses through gate.
func NewWatch(gate *Gate, o WatchOptions) (*Watch, error) {
	if gate == nil || gate.name == "" {
		return nil, errors.New("making a watch: there is no gate")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Paused == nil {
		o.Paused = func(string) {}
	}
	return &Watch{gate: gate, now: o.Now, paused: o.Paused, openings: gate.openings.Load()}, nil
}

// Refused counts a refused call to host (a name or an address in normal form) and port. It is the same refusal as a
// refused lookup of that name within the 10 seconds before, if no other call was taken for it.
func (w *Watch) Refused(host string, port uint16) {
	w.observe(func(now time.Time) string { return w.tally.call(now, host, port) })
}

// RefusedLookup counts a refused query for host of type qtype (as in the DNS; 0 where the caller has put a name's
// queries together). The A, AAAA and HTTPS queries that a program makes for one name within 10 seconds are one lookup.
func (w *Watch) RefusedLookup(host string, qtype uint16) {
	w.observe(func(now time.Time) string { return w.tally.lookedUp(now, host, qtype) })
}

// Metadata pauses at once, because of a call to a metadata service; target stands in the reason.
func (w *Watch) Metadata(target string) {
	w.observe(func(time.Time) string { return "a call to a metadata service, " + clean(target) })
}

// observe lets one refusal be counted. The lock is kept while the gate is shut, so that whoever is refused next finds
// it so.
func (w *Watch) observe(count func(now time.Time) string) {
	w.mu.Lock()
	why := ""
	if w.counting() {
		why = count(w.now())
	}
	if why != "" {
		w.gate.Hold(why)
		w.done, w.openings = true, w.gate.openings.Load()
	}
	w.mu.Unlock()
	if why != "" {
		w.paused(why)
	}
}

// counting says whether refusals count now, and begins anew where the gate has opened since.
func (w *Watch) counting() bool {
	if w.done {
		w.gate.Look() // perhaps nobody has looked since the user resumed
	}
	if opened := w.gate.openings.Load(); opened != w.openings {
		w.tally, w.done, w.openings = tally{}, false, opened
	}
	return !w.done
}
