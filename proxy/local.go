package proxy

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// localAddress reports whether an address is this machine's own, by asking the kernel which source address it would use to
// reach it: for a local destination that is the destination itself. No packet is sent (connect(2) on a datagram socket), and nothing is
// cached, so an address added a moment ago counts. Where the question itself fails the address counts as this machine's, which
// is the stricter answer; where there is no route to it, it isn't, and the dial will say so.
func localAddress(a netip.Addr) bool {
	a = a.Unmap()
	family, to := unix.AF_INET, unix.Sockaddr(nil)
	if a.Is4() {
		to = &unix.SockaddrInet4{Port: 9, Addr: a.As4()}
	} else {
		family, to = unix.AF_INET6, &unix.SockaddrInet6{Port: 9, Addr: a.As16()}
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == unix.EAFNOSUPPORT {
		return false
	}
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	switch err := unix.Connect(fd, to); err {
	case nil:
	case unix.ENETUNREACH, unix.EHOSTUNREACH, unix.EADDRNOTAVAIL, unix.EACCES, unix.EINVAL, unix.ENETDOWN:
		return false
	default:
		return true
	}
	self, err := unix.Getsockname(fd)
	if err != nil {
		return true
	}
	switch s := self.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(s.Addr) == a
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(s.Addr) == a
	}
	return true
}
