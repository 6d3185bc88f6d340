package policy

import "net/netip"

// Class is what kind of address an address is. The zero value is ClassUnknown, which is refused.
type Class uint8

// The classes of addresses.
const (
	ClassUnknown   Class = iota // no address at all
	ClassPublic                 // global unicast, the documentation ranges among it: nobody is there, and tests live in them
	ClassPrivate                // a network of somebody's own: RFC 1918, unique local, shared (CGNAT)
	ClassMachine                // loopback and unspecified: this machine
	ClassLinkLocal              // this link's
	ClassMulticast              // a group's
	ClassBroadcast              // everybody's
	ClassMetadata               // a cloud's metadata service
	ClassReserved               // nobody's to be called
)

var classNames = [...]string{"unknown", "public", "private", "machine", "link-local", "multicast", "broadcast", "metadata", "reserved"}

// String is the class's name.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return classNames[ClassUnknown]
}

// refusal is the reason for which an address of this class is refused wherever it is named; empty where a rule can allow it.
func (c Class) refusal() Reason {
	switch c {
	case ClassPublic, ClassPrivate, ClassMachine:
		return ""
	case ClassLinkLocal:
		return ReasonLinkLocal
	case ClassMulticast:
		return ReasonMulticast
	case ClassBroadcast:
		return ReasonBroadcast
	case ClassMetadata:
		return ReasonMetadata
	case ClassReserved:
		return ReasonReserved
	}
	return ReasonUnclassified
}

// classRange is a range whose addresses are not public.
type classRange struct {
	net   netip.Prefix
	class Class
}

// The special ranges, of the IANA special-purpose address registries and the RFCs that they name. The first that holds an
// address decides.
var (
	ranges4 = parseRanges(
		"0.0.0.0/32", ClassMachine, // unspecified: Linux connects it to this machine
		"0.0.0.0/8", ClassReserved, // this network, RFC 791
		"10.0.0.0/8", ClassPrivate, // RFC 1918
		"100.64.0.0/10", ClassPrivate, // shared between a provider and its customers, RFC 6598
		"127.0.0.0/8", ClassMachine, // loopback, RFC 1122
		"169.254.0.0/16", ClassLinkLocal, // RFC 3927
		"172.16.0.0/12", ClassPrivate, // RFC 1918
		"192.0.0.0/24", ClassReserved, // IETF protocol assignments, RFC 6890
		"192.88.99.0/24", ClassReserved, // the former 6to4 relays, RFC 7526
		"192.168.0.0/16", ClassPrivate, // RFC 1918
		"198.18.0.0/15", ClassReserved, // benchmarks, RFC 2544: the rooms' own addresses
		"224.0.0.0/4", ClassMulticast, // RFC 5771
		"255.255.255.255/32", ClassBroadcast, // RFC 919
		"240.0.0.0/4", ClassReserved, // RFC 1112
	)
	ranges6 = parseRanges(
		"::/128", ClassMachine, // unspecified
		"::1/128", ClassMachine, // loopback
		"2001:2::/48", ClassReserved, // benchmarks, RFC 5180: refusal addresses
		"2001:10::/28", ClassReserved, // the former ORCHID, RFC 4843
		"2001:20::/28", ClassReserved, // ORCHIDv2, RFC 7343: identifiers, no addresses
		"2000::/3", ClassPublic, // all global unicast, RFC 4291
		"fc00::/7", ClassPrivate, // unique local, RFC 4193
		"fe80::/10", ClassLinkLocal, // RFC 4291
		"fec0::/10", ClassPrivate, // the former site-local, RFC 3879
		"ff00::/8", ClassMulticast, // RFC 4291
		"::/0", ClassReserved, // not given out, or given out for what is no call (discard 100::/64, segments 5f00::/16)
	)
)

func parseRanges(pairs ...any) []classRange {
	ranges := make([]classRange, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		ranges = append(ranges, classRange{netip.MustParsePrefix(pairs[i].(string)), pairs[i+1].(Class)})
	}
	return ranges
}

// Classify says what kind of address a is, after Unwrap. A loopback address inside an IPv6 address, other than mapped, is
// reserved: no packet to it ends on this machine.
func Classify(a netip.Addr) Class {
	inner := Unwrap(a)
	if _, ok := Metadata(inner); ok {
		return ClassMetadata
	}
	class := classOf(inner)
	if class == ClassMachine && inner != a.WithZone("").Unmap() {
		return ClassReserved
	}
	return class
}

func classOf(a netip.Addr) Class {
	switch {
	case !a.IsValid():
		return ClassUnknown
	case a.Is4():
		return classIn(ranges4, a, ClassPublic)
	}
	return classIn(ranges6, a, ClassUnknown)
}

func classIn(ranges []classRange, a netip.Addr, otherwise Class) Class {
	for _, r := range ranges {
		if r.net.Contains(a) {
			return r.class
		}
	}
	return otherwise
}

// classOfNetwork is the class that all addresses of a network have, metadata services apart; ClassUnknown where they
// differ. A network is its addresses after Unwrap.
func classOfNetwork(n netip.Prefix) Class {
	ranges, otherwise := ranges6, ClassUnknown
	if n.Addr().Is4() {
		ranges, otherwise = ranges4, ClassPublic
	}
	for _, r := range ranges {
		switch {
		case r.net.Bits() <= n.Bits() && r.net.Contains(n.Addr()):
			return r.class
		case r.net.Overlaps(n) && n.Bits() < r.net.Bits():
			return ClassUnknown
		}
	}
	return otherwise
}
