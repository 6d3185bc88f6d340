package policy

import "net/netip"

// Class is what kind of address an address is. The zero value is ClassUnknown, which is refused.
type Class uint8

// The classes of addresses.
const (
	ClassUnknown   Class = iota // no address at all
	ClassPublic                 // global unicast, the documentation ranges among it: nobody is there, and tests live in them
	ClassPrivate                // RFC 1918, unique local, shared (CGNAT)
	ClassMachine                // loopback and unspecified: this machine
	ClassLinkLocal              // this link's
	ClassMulticast              // a group's
	ClassBroadcast              // everybody's
	ClassMetadata               // a cloud's metadata service
	ClassReserved               // nobody's to be called
)

// Classify says what kind of address a is, after Unwrap.
func Classify(a netip.Addr) Class { return ClassUnknown }

// Unwrap returns the IPv4 address inside an IPv6 address that holds one: mapped, compatible, NAT64 (64:ff9b::/96 and
// 64:ff9b:1::/48), 6to4, Teredo. Any other address comes back as it is, without its zone.
func Unwrap(a netip.Addr) netip.Addr { return a }
