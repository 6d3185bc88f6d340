package netns

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"lnk/nft"
)

// The listeners' ports inside. Below 1024 no ordinary program has them taken or wants them; nothing uses port 1 (tcpmux).
const (
	wirePort = 1
	dnsPort  = 53
)

// backlog is the kernel's own limit by default (net.core.somaxconn): a burst of calls waits instead of being turned away.
const backlog = 4096

// socket is one of the room's and what it is for.
type socket struct {
	use  use
	port uint16 // of usePort: this machine's
	at   netip.AddrPort
	fd   int
}

// openSockets opens the wire's and the DNS server's, each bound to exactly the room's own address (see package nft).
func openSockets(ipv6 bool) ([]socket, error) {
	var list []socket
	for _, addr := range own(nft.Addr4, nft.Addr6, ipv6) {
		list = append(list,
			socket{use: useWire, at: netip.AddrPortFrom(addr, wirePort)},
			socket{use: useDNSUDP, at: netip.AddrPortFrom(addr, dnsPort)},
			socket{use: useDNSTCP, at: netip.AddrPortFrom(addr, dnsPort)})
	}
	return open(list)
}

// openPorts opens the listeners for this machine's ports, on the room's loopback.
func openPorts(ports []uint16, ipv6 bool) ([]socket, error) {
	var list []socket
	for _, port := range ports {
		for _, addr := range own(netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback(), ipv6) {
			list = append(list, socket{use: usePort, port: port, at: netip.AddrPortFrom(addr, port)})
		}
	}
	return open(list)
}

func own(addr4, addr6 netip.Addr, ipv6 bool) []netip.Addr {
	if ipv6 {
		return []netip.Addr{addr4, addr6}
	}
	return []netip.Addr{addr4}
}

// open opens all of them or none.
func open(list []socket) ([]socket, error) {
	for i := range list {
		fd, err := list[i].open()
		if err != nil {
			closeSockets(list[:i])
			return nil, fmt.Errorf("listening inside at %s: %w", list[i].at, err)
		}
		list[i].fd = fd
	}
	return list, nil
}

// open makes the socket without SO_REUSEADDR and SO_REUSEPORT, so that nobody else's can take its place. It doesn't block,
// as the Go runtime wants it.
func (s socket) open() (int, error) {
	kind := unix.SOCK_STREAM
	if s.use == useDNSUDP {
		kind = unix.SOCK_DGRAM
	}
	fd, err := newSocket(s.at.Addr(), kind)
	if err != nil {
		return -1, err
	}
	if err := s.bind(fd, kind); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (s socket) bind(fd, kind int) error {
	if s.at.Addr().Is6() {
		if err := unix.SetsockoptInt(fd, unix.SOL_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			return os.NewSyscallError("setsockopt IPV6_V6ONLY", err)
		}
	}
	if err := unix.Bind(fd, sockaddr(s.at)); err != nil {
		return os.NewSyscallError("bind", err)
	}
	if kind != unix.SOCK_STREAM {
		return nil
	}
	return os.NewSyscallError("listen", unix.Listen(fd, backlog))
}

func newSocket(family netip.Addr, kind int) (int, error) {
	domain := unix.AF_INET
	if family.Is6() {
		domain = unix.AF_INET6
	}
	fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	return fd, os.NewSyscallError("socket", err)
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

func closeSockets(list []socket) {
	for _, s := range list {
		unix.Close(s.fd)
	}
}
