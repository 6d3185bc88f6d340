package proxy

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// ip6tOriginalDst is IP6T_SO_ORIGINAL_DST of linux/netfilter_ipv6/ip6_tables.h; x/sys has only the IPv4 one, of the same value.
const ip6tOriginalDst = 80

// originalDestination reads where a redirected connection was going, from the kernel's connection tracking. IPv4 and IPv6
// clients are asked about at their own level, whatever the listener's family. An error means that nobody knows.
func originalDestination(c *net.TCPConn) (netip.AddrPort, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("reading the original destination: %w", err)
	}
	remote, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("reading the original destination: not a TCP connection")
	}
	var to netip.AddrPort
	ask := original6
	if remote.IP.To4() != nil {
		ask = original4
	}
	ctlErr := raw.Control(func(fd uintptr) { to, err = ask(int(fd)) })
	if ctlErr != nil {
		err = ctlErr
	}
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("reading the original destination: %w", err)
	}
	return to, nil
}

// original4 reads a sockaddr_in (family, port, address: ip(7)) through the getsockopt that returns enough bytes for it.
func original4(fd int) (netip.AddrPort, error) {
	m, err := unix.GetsockoptIPv6Mreq(fd, unix.SOL_IP, unix.SO_ORIGINAL_DST)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(m.Multiaddr[4:8])), binary.BigEndian.Uint16(m.Multiaddr[2:4])), nil
}

// original6 reads a sockaddr_in6, which is what an IPv6 path MTU (ipv6(7), struct ip6_mtuinfo) begins with.
func original6(fd int) (netip.AddrPort, error) {
	m, err := unix.GetsockoptIPv6MTUInfo(fd, unix.SOL_IPV6, ip6tOriginalDst)
	if err != nil {
		return netip.AddrPort{}, err
	}
	// The kernel leaves the port in network order; the struct is read in the machine's.
	var port [2]byte
	binary.NativeEndian.PutUint16(port[:], m.Addr.Port)
	return netip.AddrPortFrom(netip.AddrFrom16(m.Addr.Addr), binary.BigEndian.Uint16(port[:])), nil
}
