package netns

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// OriginalDestination reads where a connection to one of a room's listeners was going, before the room's rules sent it there. An error means
// that nobody knows.
func OriginalDestination(c *net.TCPConn) (netip.AddrPort, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return netip.AddrPort{}, err
	}
	remote, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, net.ErrClosed
	}
	var to netip.AddrPort
	var readErr error
	if err := raw.Control(func(fd uintptr) { to, readErr = originalDestination(int(fd), remote.IP.To4() == nil) }); err != nil {
		return netip.AddrPort{}, err
	}
	return to, readErr
}

const soOriginalDst = 80 // linux/netfilter_ipv4.h; the same under SOL_IPV6, linux/netfilter_ipv6/ip6_tables.h

// originalDestination reads where a connection went before dnat. x/sys has no call for a sockaddr; two of its structures
// have the size: an ipv6_mreq starts with 16 octets, as many as a sockaddr_in, and an ip6_mtuinfo with a sockaddr_in6.
func originalDestination(fd int, ipv6 bool) (netip.AddrPort, error) {
	if ipv6 {
		info, err := unix.GetsockoptIPv6MTUInfo(fd, unix.SOL_IPV6, soOriginalDst)
		if err != nil {
			return netip.AddrPort{}, os.NewSyscallError("getsockopt SO_ORIGINAL_DST", err)
		}
		port := binary.NativeEndian.AppendUint16(nil, info.Addr.Port) // in network order, whatever the field's type
		return netip.AddrPortFrom(netip.AddrFrom16(info.Addr.Addr), binary.BigEndian.Uint16(port)), nil
	}
	mreq, err := unix.GetsockoptIPv6Mreq(fd, unix.SOL_IP, soOriginalDst)
	if err != nil {
		return netip.AddrPort{}, os.NewSyscallError("getsockopt SO_ORIGINAL_DST", err)
	}
	port, addr := mreq.Multiaddr[2:4], [4]byte(mreq.Multiaddr[4:8])
	return netip.AddrPortFrom(netip.AddrFrom4(addr), binary.BigEndian.Uint16(port)), nil
}
