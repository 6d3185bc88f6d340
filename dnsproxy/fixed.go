package dnsproxy

import (
	"net/netip"

	"lnk/policy"
)

// Names beside policy.Fixed's that a name server answers by itself. They are about the way names are looked up, not about a host.
const (
	// The name whose addresses tell a NAT64's prefix (RFC 7050). There is none here; without one its answer is fixed (RFC 8880).
	nameIPv4Only = "ipv4only.arpa"
	// The zone in which a client asks its resolver for an encrypted way to it (RFC 9462). There is none.
	zoneResolver = "resolver.arpa"
	// The name by which a browser asks whether the network minds its using another resolver by default. This one does: the proxy would
	// no longer know addresses by name. (Mozilla, "Canary domain - use-application-dns.net".)
	nameCanary = "use-application-dns.net"
)

// The well-known addresses of RFC 7050 section 8.
var ipv4Only = []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 0, 170}), netip.AddrFrom4([4]byte{192, 0, 0, 171})}

var resolverZone = mustName(zoneResolver)

func mustName(s string) policy.Name {
	n, err := policy.ParseName(s)
	if err != nil {
		panic(err)
	}
	return n
}

// fixedAnswer is the answer about a name that no one is asked about.
func fixedAnswer(n policy.Name) (policy.FixedAnswer, bool) {
	switch n.String() {
	case nameIPv4Only:
		return policy.FixedAnswer{Addrs: ipv4Only}, true
	case nameCanary:
		return policy.FixedAnswer{NoSuchName: true}, true
	case zoneResolver:
		return policy.FixedAnswer{}, true
	}
	if n.Under(resolverZone) {
		return policy.FixedAnswer{}, true
	}
	return policy.Fixed(n)
}
