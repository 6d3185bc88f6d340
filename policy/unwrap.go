package policy

import "net/netip"

// The ranges of IPv6 addresses that hold an IPv4 address.
var (
	mapped     = netip.MustParsePrefix("::ffff:0:0/96")   // IPv4-mapped, RFC 4291, section 2.5.5.2
	compatible = netip.MustParsePrefix("::/96")           // IPv4-compatible, RFC 4291, section 2.5.5.1 (deprecated)
	translated = netip.MustParsePrefix("::ffff:0:0:0/96") // IPv4-translated, RFC 2765, section 2.1 (deprecated)
	nat64      = netip.MustParsePrefix("64:ff9b::/96")    // NAT64 and its like, RFC 6052, section 2.1
	nat64Local = netip.MustParsePrefix("64:ff9b:1::/48")  // the same for local use, RFC 8215; read in its /96 form
	sixToFour  = netip.MustParsePrefix("2002::/16")       // 6to4, RFC 3056, section 2
	teredo     = netip.MustParsePrefix("2001::/32")       // Teredo, RFC 4380, section 4
)

// wrappers lists them for networks, which can't be unwrapped address by address.
var wrappers = []netip.Prefix{mapped, compatible, translated, nat64, nat64Local, sixToFour, teredo}

// Unwrap returns the IPv4 address inside an IPv6 address that holds one: mapped, compatible, translated, NAT64
// (64:ff9b::/96, and 64:ff9b:1::/48 in its /96 form), 6to4, Teredo (the client's). Any other address comes back as it is,
// without its zone. A relay or a translator on the way sends the call to that address, so it is the one to judge.
func Unwrap(a netip.Addr) netip.Addr {
	a = a.WithZone("").Unmap()
	if !a.Is6() {
		return a
	}
	b := a.As16()
	switch {
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	case teredo.Contains(a): // the client's address is stored with its bits inverted
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})
	case nat64.Contains(a), nat64Local.Contains(a), translated.Contains(a), compatible.Contains(a) && !isOwn(b):
		return netip.AddrFrom4([4]byte(b[12:16]))
	}
	return a
}

// isOwn reports whether an address of ::/96 is IPv6's own, :: or ::1.
func isOwn(b [16]byte) bool { return b[12] == 0 && b[13] == 0 && b[14] == 0 && b[15] <= 1 }
