package proxy

import (
	"context"
	"errors"
	"time"

	"lnk/policy"
)

// handleRedirected takes a connection that left the sandbox through its life.
func (w *Wire) handleRedirected(f *flow) {
	f.destined()
	if f.over {
		f.refuseCall(f.call(f.verb(), policy.Host{}), policy.Decision{Reason: policy.ReasonOverLimit}, greeting{})
		return
	}
	if f.explicit {
		f.serveExplicit()
		return
	}
	connection, to := f.wire.judge(&f.destination, policy.Host{})
	if !connection.Name.IsZero() {
		f.label = connection.Name.String()
	}
	switch {
	case connection.Allowed && f.machine:
		f.carry(f.call(f.verb(), policy.Host{}), to, greeting{})
	case connection.Allowed:
		f.exchange(to)
	case f.nameable(connection) && w.Rules().CanShow(f.to.Port()):
		f.byName(connection)
	default:
		f.refuse(connection)
	}
}

// handlePort takes a connection to the sandbox's localhost:port, which stands for this machine's port.
func (w *Wire) handlePort(f *flow, port uint16) {
	f.destination = machinePort(port)
	d, to := f.wire.judge(&f.destination, policy.Host{})
	if f.over {
		d = policy.Decision{Reason: policy.ReasonOverLimit}
	}
	if !d.Allowed {
		f.refuse(d)
		return
	}
	f.carry(f.call(f.verb(), policy.Host{}), to, greeting{})
}

// exchange carries a connection that is itself allowed. Its upstream is dialled at once; the client's first bytes are judged whenever
// they come, before or after the server's.
func (f *flow) exchange(to dest) {
	c := f.call(f.verb(), policy.Host{})
	f.converse(c, f.dialEarly(c, to))
}

// converse listens to both sides of an allowed connection, and goes on by who speaks first.
func (f *flow) converse(c *call, u *upstream) {
	g := f.sniff(0, f.wire.Limits.Hello)
	if u.claim() == serverFirst {
		f.afterServer(c, u, g)
		return
	}
	f.beforeServer(c, u, g)
}

// beforeServer goes on with a flow whose client spoke first: nothing has been sent either way.
func (f *flow) beforeServer(c *call, u *upstream, g greeting) {
	switch g.protocol {
	case gone:
		return
	case httpText:
		c.abandon()
		f.serveHTTP(g, u)
		return
	}
	if d := f.judgeGreeting(g); !d.Allowed {
		f.refuseShown(c, d, g)
		return
	}
	c.name(g.shown)
	if u.wait(); u.err != nil {
		c.dialFailed(u.err, g)
		return
	}
	c.allow()
	f.relayFrom(c, u.dialed, g, nil)
}

// afterServer goes on with a flow whose server spoke first, and is being carried to the client already. A client that now shows a
// name shows it late, and a name that isn't allowed ends the flow. So does an HTTP request, which no server waits for in this order.
func (f *flow) afterServer(c *call, u *upstream, g greeting) {
	if g.protocol == gone {
		f.cutOff()
		u.wait()
		return
	}
	d := f.judgeGreeting(g)
	if g.protocol == httpText {
		d = policy.Decision{Reason: policy.ReasonMalformed}
	}
	if !d.Allowed {
		g.late = true
		f.refuseShown(c, d, g)
		u.wait()
		return
	}
	f.relayFrom(c, u.dialed, g, u.wait)
}

// judgeGreeting decides what a client's first bytes show, on a connection that is itself allowed.
func (f *flow) judgeGreeting(g greeting) policy.Decision {
	if g.protocol == malformed {
		return policy.Decision{Reason: policy.ReasonMalformed}
	}
	d, _ := f.wire.judge(&f.destination, g.shown)
	return d
}

// refuseShown refuses what a client's first bytes show. Where the connection's own line is written already, as allowed, what was
// shown late is a call of its own.
func (f *flow) refuseShown(c *call, d policy.Decision, g greeting) {
	if c.allowed() {
		c = f.call(f.verb(), g.shown)
	} else {
		c.name(g.shown)
	}
	f.refuseCall(c, d, g)
}

// byName waits for a bare literal to show the name that could allow it.
func (f *flow) byName(connection policy.Decision) {
	g := f.sniff(f.wire.Limits.FirstByte, f.wire.Limits.Hello)
	switch {
	case g.protocol == httpText:
		f.serveHTTP(g, nil)
		return
	case g.protocol == malformed:
		connection = policy.Decision{Reason: policy.ReasonMalformed}
	}
	c := f.call(f.verb(), g.shown)
	if g.shown.IsZero() || g.protocol == malformed {
		f.refuseCall(c, connection, g)
		return
	}
	d, to := f.wire.judge(&f.destination, g.shown)
	if !d.Allowed {
		f.refuseCall(c, d, g)
		return
	}
	f.carry(c, to, g)
}

// carry dials where an allowed call goes, and relays.
func (f *flow) carry(c *call, to dest, g greeting) {
	got, err := f.reach(to)
	if err != nil {
		c.dialFailed(err, g)
		return
	}
	c.allow()
	f.relayFrom(c, got, g, nil)
}

// reach dials and makes the upstream the flow's.
func (f *flow) reach(to dest) (dialed, error) {
	got, err := f.wire.dialer.dial(f.ctx, to)
	if err != nil {
		return dialed{}, err
	}
	if !f.attach(got.conn) {
		return dialed{}, failed(got.to, context.Canceled)
	}
	return got, nil
}

// relayFrom sends the client's first bytes on and carries both directions to their ends. Where the server's direction is carried already,
// downstream waits for it.
func (f *flow) relayFrom(c *call, up dialed, g greeting, downstream func()) {
	c.reached(up)
	if downstream == nil {
		done := make(chan struct{})
		f.running.Go(func() {
			defer close(done)
			f.carryDirection(f.downward(c, up.conn))
		})
		downstream = func() { <-done }
	}
	defer downstream()
	if err := f.sendGreeting(up, g, c.sent); errors.Is(err, errHiddenRequest) {
		f.refuseCall(f.call(f.verb(), policy.Host{}), policy.Decision{Reason: policy.ReasonMalformed}, greeting{})
	} else if err != nil {
		reset(f.client)
		reset(up.conn)
	} else if !g.eof {
		f.carryDirection(f.upward(c, up.conn))
	}
}

// errHiddenRequest is a first line that came in pieces and became a request, or might still.
var errHiddenRequest = errors.New("a request in pieces")

// sendGreeting replays what the client sent first, and passes its end on where it has ended. A first line that hasn't ended is carried as it comes, and
// watched to its end: should it turn out to be an HTTP request, it came in pieces to be one that nobody reads, and the flow ends.
func (f *flow) sendGreeting(up dialed, g greeting, sent func(int64)) error {
	line := g.bytes
	for more := g.bytes; ; {
		n, err := up.conn.Write(more)
		sent(int64(n))
		if err != nil {
			return err
		}
		if g.eof {
			return halfClose(up.conn)
		}
		if g.protocol != rawLine {
			return nil
		}
		if len(line) > maxGreeting {
			return errHiddenRequest
		}
		if more, err = readReady(f.client); err != nil {
			if g.ended(err).eof {
				return halfClose(up.conn)
			}
			return err
		}
		line = append(line, more...)
		switch g.protocol = classify(line); g.protocol {
		case httpText, malformed:
			return errHiddenRequest
		}
	}
}

// quietUntil is when an allowed flow that has said nothing is logged all the same.
func (w *Wire) quietUntil() time.Time { return time.Now().Add(w.Limits.Quiet) }
