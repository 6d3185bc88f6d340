package policy

import "net/netip"

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
