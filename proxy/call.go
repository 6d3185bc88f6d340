package proxy

import (
	"sync"

	"lnk/policy"
	"lnk/wirelog"
)

// call is one call on a flow. Whatever happens it writes one outcome line, and one ended line if it was allowed:
// the methods below may be called in any order and more than once, and only the first outcome and the first end count.
type call struct {
	flow   *flow
	where  *destination
	shown  policy.Host // what the call shows; zero where it shows nothing
	dialed dialed      // where it went, once it was allowed

	mu      sync.Mutex
	verb    wirelog.Verb
	target  wirelog.Target
	host    string // the target's host alone
	outcome wirelog.Outcome
	done    bool
	out, in int64 // bytes delivered, for the ended line
}

// name says what the call asks for: the host it shows, or else where it goes.
func (c *call) name(shown policy.Host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown, c.host, c.target = shown, c.where.label, c.where.target()
	if c.where.machine {
		c.verb = wirelog.Port
	} else if !shown.IsZero() {
		c.host = shown.String()
		c.target = wirelog.HostPort(c.host, c.where.to.Port())
	}
}

// allow writes the line of an allowed call.
func (c *call) allow() { c.settle(wirelog.Allowed, "") }

// refuse writes the line of a refused call and tells the watch.
func (c *call) refuse(d policy.Decision) {
	if !c.settle(wirelog.Refused, d.Reason) {
		return
	}
	watch := c.flow.wire.Watch
	switch {
	case d.Reason == policy.ReasonMetadata:
		watch.Metadata(c.canonicalMetadata(), c.host)
	case d.Reason.Counts():
		watch.Refused(c.host, c.where.to.Port())
	}
}

// canonicalMetadata is the metadata service that the call meant, whichever way it wrote it: the address it was about to be dialled at, or
// went to, or what it showed.
func (c *call) canonicalMetadata() string {
	if to := c.dialed.to.Addr(); to.IsValid() {
		return to.String()
	}
	if to := c.where.to.Addr(); policy.Classify(to) == policy.ClassMetadata {
		return to.String()
	}
	return c.host
}

// fail writes the line of a call that was allowed to happen and didn't.
func (c *call) fail(r policy.Reason) { c.settle(wirelog.Failed, r) }

// settle writes the outcome line if the call has none yet, and reports whether it did.
func (c *call) settle(o wirelog.Outcome, r policy.Reason) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outcome != "" {
		return false
	}
	c.outcome = o
	if cut := c.flow.cutBy(); cut != "" && o == wirelog.Failed {
		o, r = wirelog.Refused, cut
	}
	c.write(wirelog.Record{Outcome: o, Reason: string(r), Always: r == policy.ReasonMetadata})
	return true
}

// allowed reports whether the call's outcome is allowed.
func (c *call) allowed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outcome == wirelog.Allowed
}

// carried adds delivered bytes to the call.
func (c *call) carried(out, in int64) {
	c.mu.Lock()
	c.out += out
	c.in += in
	c.mu.Unlock()
}

// sent and received count delivered bytes, for the call and for the counters.
func (c *call) sent(n int64) {
	c.carried(n, 0)
	c.flow.wire.Counter.Add(n, 0)
}

func (c *call) received(n int64) {
	c.carried(0, n)
	c.flow.wire.Counter.Add(0, n)
}

// close writes what is missing: the outcome of a call that the client gave up, and the end of one that was allowed.
func (c *call) close() {
	c.settle(wirelog.Failed, policy.ReasonClientGone)
	c.flow.mu.Lock()
	delete(c.flow.calls, c)
	c.flow.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done || c.outcome != wirelog.Allowed {
		return
	}
	c.done = true
	c.write(wirelog.Record{Outcome: wirelog.Ended, Out: c.out, In: c.in, Reason: string(c.flow.cutBy())})
}

// write fills in what every line of this call shares. The caller holds mu.
func (c *call) write(r wirelog.Record) {
	r.Verb, r.Target = c.verb, c.target
	c.flow.wire.Log.Write(r)
}
