package proxy

import (
	"net/netip"

	"lnk/policy"
)

// judge decides what is known of a call on this flow: shown is the host that it shows, zero where it shows none. Where the call is allowed,
// dest says where it goes.
//
// The connection is allowed by its address, or by a name that the address was given for. What the call shows must be allowed as well.
// It goes where the connection goes; only a bare literal that isn't itself allowed goes by the name shown, to that name's own address.
func (f *flow) judge(shown policy.Host) (policy.Decision, dest) {
	if d := f.wire.Gate.Check(); !d.Allowed {
		return d, dest{}
	}
	if f.barred != "" {
		return policy.Decision{Reason: f.barred}, dest{}
	}
	rules := f.wire.Rules()
	if f.machine {
		return rules.Port(f.to.Port()), machineDest(f.to.Port())
	}
	connection := f.judgeConnection(rules)
	if shown.IsZero() {
		return connection, f.dest(connection)
	}
	byName := rules.Shown(shown, f.to.Port())
	switch {
	case !byName.Allowed:
		return byName, dest{}
	case connection.Allowed:
		return connection, f.dest(connection)
	case f.nameable(connection):
		return byName, dest{host: shown, port: f.to.Port()}
	}
	return connection, dest{}
}

// judgeConnection decides the connection itself, by its address and the names that this was given for.
func (f *flow) judgeConnection(rules policy.Rules) policy.Decision {
	if _, is := policy.Metadata(f.to.Addr()); is {
		return policy.Decision{Reason: policy.ReasonMetadata}
	}
	return rules.Connection(f.to, f.names)
}

// dest is where an allowed connection goes: to its own address first; a refusal address has none.
func (f *flow) dest(connection policy.Decision) dest {
	to := dest{first: f.to.Addr(), host: policy.HostAt(f.to.Addr()), port: f.to.Port()}
	if f.refusal {
		to.first = netip.Addr{}
	}
	if !connection.Name.IsZero() {
		to.host = policy.HostNamed(connection.Name)
	}
	return to
}

// machineDest is this machine's port, wherever on its loopback the server listens.
func machineDest(port uint16) dest {
	return dest{port: port, fixed: []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}}
}

// nameable reports whether a name that the call shows could still allow it: the connection goes to a literal that was given for no name,
// and was refused for that alone.
func (f *flow) nameable(connection policy.Decision) bool {
	return len(f.names) == 0 && !f.refusal && connection.Reason == policy.ReasonAddressNotAllowed
}

// judgeAgain judges an open call after the rules have changed, down to the address that it is connected to.
func (c *call) judgeAgain() policy.Decision {
	c.mu.Lock()
	shown, dialed := c.shown, c.dialed
	c.mu.Unlock()
	d, to := c.flow.judge(shown)
	if d.Allowed && dialed.to.IsValid() {
		return c.flow.wire.dialer.judge(dialed.to, to.host)
	}
	return d
}
