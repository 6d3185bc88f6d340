package proxy

import (
	"net/netip"

	"lnk/policy"
)

// judge decides what is known of a call to d: shown is the host that it shows, zero where it shows none. Where the call is allowed, dest
// says where it goes.
//
// The connection is allowed by its address, or by a name that the address was given for. What the call shows must be allowed as well.
// It goes where the connection goes; only a bare literal that isn't itself allowed goes by the name shown, to that name's own address.
func (w *Wire) judge(d *destination, shown policy.Host) (policy.Decision, dest) {
	if open := w.Gate.Check(); !open.Allowed {
		return open, dest{}
	}
	if d.barred != "" {
		return policy.Decision{Reason: d.barred}, dest{}
	}
	rules := w.Rules()
	if d.machine {
		return rules.Port(d.to.Port()), d.onMachine()
	}
	connection := d.connection(rules)
	if shown.IsZero() {
		return connection, d.dest(connection)
	}
	byName := rules.Shown(shown, d.to.Port())
	switch {
	case byName.Reason == policy.ReasonMetadata:
		return byName, dest{}
	case !connection.Allowed && !d.nameable(connection):
		return connection, dest{}
	case !byName.Allowed:
		return byName, dest{}
	case connection.Allowed:
		return connection, d.dest(connection)
	}
	return byName, dest{host: shown, port: d.to.Port()}
}

// connection decides the connection itself: by its address and the names that this was given for, or by the name that was asked for.
func (d *destination) connection(rules policy.Rules) policy.Decision {
	if policy.Classify(d.to.Addr()) == policy.ClassMetadata {
		return policy.Decision{Reason: policy.ReasonMetadata}
	}
	if name, is := d.asked.Name(); is {
		decision := rules.Shown(d.asked, d.to.Port())
		if decision.Name = name; decision.Reason == policy.ReasonShownNotAllowed {
			decision.Reason = policy.ReasonNameNotAllowed // it is where the call goes, too
		}
		return decision
	}
	return rules.Connection(d.to, d.names)
}

// dest is where an allowed connection goes: to its own address first; a refusal address and a name that was asked for have none.
func (d *destination) dest(connection policy.Decision) dest {
	to := dest{first: d.to.Addr(), host: policy.HostAt(d.to.Addr()), port: d.to.Port()}
	if d.refusal {
		to.first = netip.Addr{}
	}
	if !connection.Name.IsZero() {
		to.host = policy.HostNamed(connection.Name)
	}
	return to
}

// onMachine is this machine's port: at the address that was called, or, by the machine's name in the room, wherever on its loopback the
// server listens.
func (d *destination) onMachine() dest {
	if d.to.Addr() != policy.MachineAddr {
		return dest{port: d.to.Port(), fixed: []netip.Addr{d.to.Addr()}}
	}
	return dest{port: d.to.Port(), fixed: []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}}
}

// nameable reports whether a name that the call shows could still allow it: the connection goes to a literal that was given for no name,
// and was refused for that alone.
func (d *destination) nameable(connection policy.Decision) bool {
	return len(d.names) == 0 && !d.refusal && d.asked.IsZero() && connection.Reason == policy.ReasonAddressNotAllowed
}

// judgeAgain judges an open call after the rules have changed, down to the address that it is connected to.
func (c *call) judgeAgain() policy.Decision {
	c.mu.Lock()
	shown, dialed := c.shown, c.dialed
	c.mu.Unlock()
	d, to := c.flow.wire.judge(c.where, shown)
	if d.Allowed && dialed.to.IsValid() {
		return c.flow.wire.dialer.judge(dialed.to, to.host)
	}
	return d
}
