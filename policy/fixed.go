package policy

import (
	"net/netip"
	"strconv"
	"strings"
)

// FixedAnswer is what the name server answers about a name without asking anybody.
type FixedAnswer struct {
	Addrs      []netip.Addr // none, with NoSuchName false: the name is there and has no address
	NoSuchName bool         // NXDOMAIN
}

var loopback = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}

// fixedNames have a fixed answer themselves; what lies below them has none.
var fixedNames = map[Name]FixedAnswer{
	MachineName:                    {Addrs: []netip.Addr{MachineAddr}},
	MachineDockerName:              {Addrs: []netip.Addr{MachineAddr}},
	ProxyName:                      {Addrs: []netip.Addr{ProxyAddr}},
	mustName("_dns.resolver.arpa"): {}, // RFC 9462, section 6.4: asks this resolver about itself
}

// fixedZones have a fixed answer for themselves and for all that lies below.
var fixedZones = []struct {
	zone   Name
	answer FixedAnswer
}{
	{localhost, FixedAnswer{Addrs: loopback}},                 // RFC 6761, section 6.3
	{mustName("invalid"), FixedAnswer{NoSuchName: true}},      // RFC 6761, section 6.4
	{mustName("onion"), FixedAnswer{NoSuchName: true}},        // RFC 7686, section 2
	{mustName("alt"), FixedAnswer{NoSuchName: true}},          // RFC 9476, section 2
	{mustName("lnk.internal"), FixedAnswer{NoSuchName: true}}, // the room's own zone: what it doesn't hold isn't there
}

// Fixed returns the answer to a name that no name server is asked about: the room's own names, localhost and what lies below
// it, names that RFC 6761 and its successors take out of the DNS, and the reverse names of addresses that aren't public
// (RFC 6303). The answers are shared: they are not to be changed. .test is an ordinary name: tests live there.
func Fixed(n Name) (FixedAnswer, bool) {
	if a, ok := fixedNames[n]; ok {
		return a, true
	}
	for _, z := range fixedZones {
		if n == z.zone || n.Under(z.zone) {
			return z.answer, true
		}
	}
	if network, ok := reverse(n); ok {
		class := classOfNetwork(network)
		return FixedAnswer{NoSuchName: true}, class != ClassPublic && class != ClassUnknown
	}
	return FixedAnswer{}, false
}

// reverse is the network that a reverse name stands for, an address being the longest; false for any other name.
func reverse(n Name) (netip.Prefix, bool) {
	if digits, ok := strings.CutSuffix(n.s, ".in-addr.arpa"); ok {
		return reverse4(strings.Split(digits, "."))
	}
	if digits, ok := strings.CutSuffix(n.s, ".ip6.arpa"); ok {
		return reverse6(strings.Split(digits, "."))
	}
	return netip.Prefix{}, false
}

func reverse4(octets []string) (netip.Prefix, bool) {
	var b [4]byte
	if len(octets) > len(b) {
		return netip.Prefix{}, false
	}
	for i := range octets {
		v, err := strconv.ParseUint(octets[len(octets)-1-i], 10, 8)
		if err != nil {
			return netip.Prefix{}, false
		}
		b[i] = byte(v)
	}
	return netip.PrefixFrom(netip.AddrFrom4(b), 8*len(octets)), true
}

func reverse6(nibbles []string) (netip.Prefix, bool) {
	var b [16]byte
	if len(nibbles) > 2*len(b) {
		return netip.Prefix{}, false
	}
	for i := range nibbles {
		v, err := strconv.ParseUint(nibbles[len(nibbles)-1-i], 16, 4)
		if err != nil {
			return netip.Prefix{}, false
		}
		b[i/2] |= byte(v) << (4 * (1 - i%2))
	}
	return netip.PrefixFrom(netip.AddrFrom16(b), 4*len(nibbles)), true
}
