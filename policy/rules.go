package policy

import "net/netip"

// Rules is what a sandbox may reach. The zero value denies everything.
type Rules struct{ mode Mode }

// NewRules makes the rules of a network: its endpoints, and the ports of this machine that may be called. In mode open the
// endpoints name what may be called although it is private.
func NewRules(mode Mode, endpoints []Endpoint, ports []uint16) (Rules, error) {
	return Rules{mode}, nil
}

// Mode is the network's mode.
func (r Rules) Mode() Mode { return r.mode }

// Endpoints are the endpoints as they were given, in normal form.
func (r Rules) Endpoints() []Endpoint { return nil }

// Ports are the ports of this machine that may be called, those that endpoints name (localhost:5432) among them, sorted.
func (r Rules) Ports() []uint16 { return nil }

// Lookup judges whether a name server may be asked about n. Names that Fixed answers are refused with ReasonFixedName: ask
// Fixed first.
func (r Rules) Lookup(n Name) Decision { return Decision{Reason: ReasonNameNotAllowed} }

// Connection judges a connection by where it goes and the names its address was given for.
func (r Rules) Connection(to netip.AddrPort, names []Name) Decision {
	return Decision{Reason: ReasonNotAllowed}
}

// Shown judges what a call shows: the SNI of a ClientHello, a Host, the target of a CONNECT.
func (r Rules) Shown(h Host, port uint16) Decision { return Decision{Reason: ReasonShownNotAllowed} }

// CanShow reports whether some name could be allowed at that port: whether the first bytes of a call to an address that
// isn't itself allowed are worth waiting for.
func (r Rules) CanShow(port uint16) bool { return false }

// Port judges a call to a port of this machine.
func (r Rules) Port(port uint16) Decision { return Decision{Reason: ReasonPortNotAllowed} }

// Address judges the address about to be dialled for a call that asked for a host. local reports whether an
// address is one of this machine's interfaces'; nil denies.
func (r Rules) Address(to netip.AddrPort, asked Host, local func(netip.Addr) bool) Decision {
	return Decision{Reason: ReasonNotAllowed}
}
