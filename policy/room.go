package policy

import "net/netip"

// The fixed addresses of every sandbox's room. They are of a range that programs take for public (RFC 2544 benchmarks),
// and no packet to them leaves a room.
var (
	RoomAddr4   = netip.MustParseAddr("198.18.0.1")   // the room's own, on eth0
	RoomAddr6   = netip.MustParseAddr("fd6c:6e6b::1") // the room's own, on eth0
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
	RefusalPrefix4 = netip.MustParsePrefix("198.18.0.0/15") // holds them all, and the room's own addresses before the first
	RefusalPrefix6 = netip.MustParsePrefix("2001:2:0:1::/64")
)

// IsRefusalAddr reports whether a is an address that stands for a refused name.
func IsRefusalAddr(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	if a.Is4() {
		return !a.Less(RefusalFirst4) && !RefusalLast4.Less(a)
	}
	return RefusalPrefix6.Contains(a)
}

// isRoomAddr reports whether a is an address of the room's own at which no call ends: MachineAddr isn't one.
func isRoomAddr(a netip.Addr) bool {
	return a == RoomAddr4 || a == RoomAddr6 || a == NameServer || a == ProxyAddr
}

// The names of a room's fixed addresses.
var (
	MachineName       = mustName("host.lnk.internal")    // MachineAddr
	MachineDockerName = mustName("host.docker.internal") // MachineAddr, as programs made for containers call it
	ProxyName         = mustName("proxy.lnk.internal")   // ProxyAddr

	localhost = mustName("localhost")
)

// isMachineName reports whether n is this machine's: a call to it is a call to one of this machine's ports.
func isMachineName(n Name) bool {
	return n == localhost || n == MachineName || n == MachineDockerName || n.Under(localhost)
}
