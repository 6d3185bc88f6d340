package policy

import "net/netip"

// The fixed addresses of every sandbox's room.
var (
	RoomAddr4   = netip.MustParseAddr("198.18.0.1")   // the program's own, on eth0
	RoomAddr6   = netip.MustParseAddr("fd6c:6e6b::1") // the program's own, on eth0
	NameServer  = netip.MustParseAddr("198.18.0.2")   // in resolv.conf
	MachineAddr = netip.MustParseAddr("198.18.0.3")   // the machine itself: host.lnk.internal
	ProxyAddr   = netip.MustParseAddr("198.18.0.4")   // the explicit proxy: proxy.lnk.internal
)

// ProxyPort is the explicit proxy's port.
const ProxyPort = 3128

// The ranges of refusal addresses: each refused name gets one of its own in either family, so that the call that follows
// is refused with words.
var (
	RefusalFirst4  = netip.MustParseAddr("198.18.1.0")      // the first
	RefusalLast4   = netip.MustParseAddr("198.19.255.254")  // the last
	RefusalPrefix4 = netip.MustParsePrefix("198.18.0.0/15") // holds them all, and the room's own below RefusalFirst4
	RefusalPrefix6 = netip.MustParsePrefix("2001:2:0:1::/64")
)

// IsRefusalAddr reports whether a is an address that stands for a refused name.
func IsRefusalAddr(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return !a.Less(RefusalFirst4) && !RefusalLast4.Less(a)
	}
	return RefusalPrefix6.Contains(a)
}

// The names of a room's fixed addresses.
var (
	MachineName       = Name{"host.lnk.internal"}    // MachineAddr
	MachineDockerName = Name{"host.docker.internal"} // MachineAddr, as programs made for containers call it
	ProxyName         = Name{"proxy.lnk.internal"}   // ProxyAddr
)

// FixedAnswer is what a name server answers about a name without asking anybody.
type FixedAnswer struct {
	Addrs      []netip.Addr // none with NoSuchName false: the name is there and has no address
	NoSuchName bool         // NXDOMAIN
}

// Fixed returns the answer to a name that nobody is asked about: the room's own names, localhost and what lies below it, and
// names that RFC 6761 and its successors say are never looked up (.invalid, .onion, private reverse zones). .test is an ordinary
// name.
func Fixed(n Name) (FixedAnswer, bool) { return FixedAnswer{}, false }
