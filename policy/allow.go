package policy

import "net/netip"

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
	switch {
	case d.Allowed && d.Rule != openRule:
		return d
	case inOpen.Allowed:
		return inOpen
	case d.Allowed:
		return d
	case d.Reason == ReasonPrivate:
		why = ReasonPrivate
	}
	return refuse(why)
}
