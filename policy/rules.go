package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// Rules is what a sandbox may reach. The zero value denies everything, as mode none does.
type Rules struct{ t *table }

// NewRules makes the rules of a network: its endpoints, and the ports of this machine that may be called, to which endpoints
// like localhost:5432 add theirs. In mode open the endpoints name what may be called although it is private. Modes
// none and host have neither endpoints nor ports.
func NewRules(mode Mode, endpoints []Endpoint, ports []uint16) (Rules, error) {
	switch mode {
	case ModeEndpoints, ModeOpen:
	case ModeNone, ModeHost:
		if len(endpoints)+len(ports) > 0 {
			return Rules{}, fmt.Errorf("rules: mode %s has no endpoints and no ports", mode)
		}
	default:
		return Rules{}, fmt.Errorf("rules: %s is not known", mode)
	}
	if slices.Contains(ports, 0) {
		return Rules{}, errors.New("rules: port 0 is no port")
	}
	if slices.Contains(endpoints, Endpoint{}) {
		return Rules{}, errors.New("rules: the zero endpoint is none")
	}
	return Rules{newTable(mode, endpoints, ports)}, nil
}

// Mode is the network's mode.
func (r Rules) Mode() Mode {
	if r.t == nil {
		return ModeNone
	}
	return r.t.mode
}

// Endpoints are the endpoints in the order they were given, each once.
func (r Rules) Endpoints() []Endpoint {
	if r.t == nil {
		return nil
	}
	return slices.Clone(r.t.endpoints)
}

// Ports are the ports of this machine that may be called, those that endpoints name (localhost:5432) among them, sorted.
func (r Rules) Ports() []uint16 {
	if r.t == nil {
		return nil
	}
	return slices.Clone(r.t.ports)
}

// Lookup judges whether a name server may be asked about n: whether some endpoint names it, at whatever port. A name's service labels
// (_postgresql._tcp.db.test) are part of it. Names that Fixed answers are refused with ReasonFixedName: ask Fixed first.
func (r Rules) Lookup(n Name) Decision {
	if why := r.closed(); why != "" {
		return refuse(why)
	}
	if n.IsZero() {
		return refuse(ReasonMalformed)
	}
	if _, ok := MetadataName(n); ok {
		return refuse(ReasonMetadata)
	}
	if _, ok := Fixed(n); ok {
		return refuse(ReasonFixedName)
	}
	if rule, ok := r.t.lookup(n); ok {
		return Decision{Allowed: true, Rule: rule, Name: n}
	}
	if r.t.mode == ModeOpen {
		return Decision{Allowed: true, Rule: openRule, Name: n}
	}
	return refuse(ReasonNameNotAllowed)
}

// Connection judges a connection by where it goes and the names that this address was given for. It is allowed where an endpoint
// holds the address itself, whatever its names, or where one of the names is allowed at that port; Decision.Name is that name. The
// order of the names changes at most which of several allowed ones that is. A private address is allowed only under an
// exact name, or by itself. An address of this machine's interfaces is for the caller to know, who asks Port about it.
func (r Rules) Connection(to netip.AddrPort, names []Name) Decision {
	if why := r.closed(); why != "" {
		return refuse(why)
	}
	if !to.Addr().IsValid() || to.Port() == 0 {
		return refuse(ReasonNoOriginal)
	}
	for _, n := range names {
		if _, ok := MetadataName(n); ok {
			return refuse(ReasonMetadata)
		}
	}
	where := Unwrap(to.Addr())
	class := Classify(to.Addr())
	switch {
	case where == MachineAddr || class == ClassMachine:
		return r.Port(to.Port())
	case isRoomAddr(where):
		return refuse(ReasonSelf)
	case IsRefusalAddr(where) && len(names) > 0:
		return r.refused(names, to.Port())
	case class.refusal() != "":
		return refuse(class.refusal())
	}
	return r.call(where, to.Port(), class, names)
}

// refused judges a call to the refusal address of names that were refused once: the rules may have changed since. Only
// names count, since nobody is there.
func (r Rules) refused(names []Name, port uint16) Decision {
	for _, n := range names {
		if d := r.named(n, port, ClassPublic); d.Allowed {
			return d
		}
	}
	return refuse(ReasonNameNotAllowed)
}

// call judges a call to a public or private address under names.
func (r Rules) call(where netip.Addr, port uint16, class Class, names []Name) Decision {
	why := ReasonAddressNotAllowed
	if len(names) > 0 {
		why = ReasonNameNotAllowed
	}
	inOpen := Decision{} // kept while a rule of the user's own may still say more
	for _, n := range names {
		d := r.named(n, port, class)
		switch {
		case d.Allowed && d.Rule != openRule:
			return d
		case d.Allowed && !inOpen.Allowed:
			inOpen = d
		case d.Reason == ReasonPrivate:
			why = ReasonPrivate
		}
	}
	d := r.literal(where, port, class)
	if d.Allowed && d.Rule != openRule || !inOpen.Allowed && d.Allowed {
		return d
	}
	if inOpen.Allowed {
		return inOpen
	}
	if d.Reason == ReasonPrivate {
		why = ReasonPrivate
	}
	return refuse(why)
}

// Shown judges what a call shows: the SNI of a ClientHello, a Host, the target of a CONNECT. A name's rule never covers an
// address that is shown.
func (r Rules) Shown(h Host, port uint16) Decision {
	if why := r.closed(); why != "" {
		return refuse(why)
	}
	if h.IsZero() || port == 0 {
		return refuse(ReasonMalformed)
	}
	if n, ok := h.Name(); ok {
		return r.shownName(n, port)
	}
	where, class := Unwrap(h.addr), Classify(h.addr)
	switch {
	case where == MachineAddr || class == ClassMachine:
		return r.Port(port)
	case isRoomAddr(where):
		return refuse(ReasonSelf)
	case class.refusal() != "":
		return refuse(class.refusal())
	}
	return r.literal(where, port, class)
}

func (r Rules) shownName(n Name, port uint16) Decision {
	if _, ok := MetadataName(n); ok {
		return refuse(ReasonMetadata)
	}
	switch {
	case isMachineName(n):
		return r.Port(port)
	case n == ProxyName:
		return refuse(ReasonSelf)
	}
	if _, ok := Fixed(n); ok {
		return refuse(ReasonFixedName)
	}
	d := r.named(n, port, ClassPublic)
	if !d.Allowed {
		d.Reason = ReasonShownNotAllowed
	}
	return d
}

// CanShow reports whether some name could be allowed at that port: whether the first bytes of a call to an address that
// isn't itself allowed are worth waiting for.
func (r Rules) CanShow(port uint16) bool {
	if r.closed() != "" || port == 0 {
		return false
	}
	return r.t.mode == ModeOpen || r.t.shows[0] || r.t.shows[port]
}

// Port judges a call to a port of this machine.
func (r Rules) Port(port uint16) Decision {
	if why := r.closed(); why != "" {
		return refuse(why)
	}
	if rule, ok := r.t.machine[port]; ok {
		return Decision{Allowed: true, Rule: rule}
	}
	return refuse(ReasonPortNotAllowed)
}

// Address judges the address that is about to be dialled for a call that asked for a host, last of all. An address of
// this machine's, loopback or one of its interfaces' (local says which), is a port of it; a private one is allowed only if the
// name asked for is named exactly, or the address or its network is. local is required: nil denies.
func (r Rules) Address(to netip.AddrPort, asked Host, local func(netip.Addr) bool) Decision {
	if why := r.closed(); why != "" {
		return refuse(why)
	}
	if !to.IsValid() || to.Port() == 0 || asked.IsZero() {
		return refuse(ReasonMalformed)
	}
	if _, ok := MetadataName(asked.name); ok {
		return refuse(ReasonMetadata)
	}
	where, class := Unwrap(to.Addr()), Classify(to.Addr())
	switch {
	case class == ClassMetadata:
		return refuse(ReasonMetadata)
	case local == nil:
		return refuse(ReasonUnclassified)
	case where == MachineAddr, class == ClassMachine, local(to.Addr().WithZone("")), local(where):
		return r.Port(to.Port())
	case isRoomAddr(where):
		return refuse(ReasonSelf)
	case class.refusal() != "":
		return refuse(class.refusal())
	}
	var names []Name
	if n, ok := asked.Name(); ok {
		names = []Name{n}
	}
	return r.call(where, to.Port(), class, names)
}

// openRule is the rule that allows what no endpoint names.
const openRule = `mode "open"`

// closed is the reason for which nothing may be called at all; empty where something may.
func (r Rules) closed() Reason {
	switch r.Mode() {
	case ModeEndpoints, ModeOpen:
		return ""
	case ModeHost:
		return ReasonHostNetwork
	}
	return ReasonNoNetwork
}

// named judges a name at a port, for an address of that class: a private address is no part of what a wildcard or mode open
// allows.
func (r Rules) named(n Name, port uint16, class Class) Decision {
	if n.IsZero() {
		return refuse(ReasonMalformed)
	}
	if rule, ok := r.t.exactRule(n, port); ok {
		return Decision{Allowed: true, Rule: rule, Name: n}
	}
	rule, ok := r.t.belowRule(n, port)
	if !ok && r.t.mode == ModeOpen {
		rule, ok = openRule, true
	}
	switch {
	case !ok:
		return refuse(ReasonNameNotAllowed)
	case class != ClassPublic:
		return refuse(ReasonPrivate)
	}
	return Decision{Allowed: true, Rule: rule, Name: n}
}

// literal judges an address by itself. A network that reaches beyond private addresses names no private one.
func (r Rules) literal(a netip.Addr, port uint16, class Class) Decision {
	if rule, ok := r.t.networkRule(a, port, class == ClassPrivate); ok {
		return Decision{Allowed: true, Rule: rule}
	}
	switch {
	case r.t.mode == ModeOpen && class == ClassPublic:
		return Decision{Allowed: true, Rule: openRule}
	case r.t.mode == ModeOpen:
		return refuse(ReasonPrivate)
	}
	return refuse(ReasonAddressNotAllowed)
}

func refuse(why Reason) Decision { return Decision{Reason: why} }
