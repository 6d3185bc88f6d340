package netns

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Before anything runs in a room, it is tried: a connection and a query of each family go where they should, with their
// destination to be read, and what should be refused is. No packet of these leaves the kernel, and nobody is at the
// addresses.
var (
	trial4 = netip.MustParseAddrPort("198.18.0.4:1")
	trial6 = netip.MustParseAddrPort("[2001:2::4]:1")
)

// patience bounds the wait for what happens at once or not at all.
const patience = 2 * time.Second

// try tries every socket of the room.
func try(sockets []socket) error {
	for _, s := range sockets {
		to := trial4
		if s.at.Addr().Is6() {
			to = trial6
		}
		if err := s.try(to); err != nil {
			return fmt.Errorf("trying the room: %w", err)
		}
	}
	return nil
}

func (s socket) try(to netip.AddrPort) error {
	query := netip.AddrPortFrom(to.Addr(), dnsPort)
	switch s.use {
	case useWire:
		if err := tryRejected(to); err != nil {
			return fmt.Errorf("a datagram to %s: %w", to, err)
		}
		return wrap(tryStream(s.fd, to), "a connection to", to)
	case useDNSTCP:
		return wrap(tryStream(s.fd, query), "a connection to", query)
	case useDNSUDP:
		return wrap(tryDatagram(s.fd, query), "a datagram to", query)
	}
	return nil
}

func wrap(err error, what string, to netip.AddrPort) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, to, err)
}

// tryStream connects and takes the connection at the listener. Both ends are reset, which leaves no state behind.
func tryStream(listener int, to netip.AddrPort) error {
	client, err := newSocket(to.Addr(), unix.SOCK_STREAM)
	if err != nil {
		return err
	}
	defer unix.Close(client)
	if err := connect(client, to); err != nil {
		return err
	}
	if err := await(listener, unix.POLLIN); err != nil {
		return fmt.Errorf("it doesn't reach the listener: %w", err)
	}
	server, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("accept", err)
	}
	defer unix.Close(server)
	original, err := originalDestination(server, to.Addr().Is6())
	if err != nil {
		return err
	}
	if original != to {
		return fmt.Errorf("its original destination reads %s", original)
	}
	return os.NewSyscallError("setsockopt SO_LINGER",
		unix.SetsockoptLinger(server, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}))
}

func connect(fd int, to netip.AddrPort) error {
	if err := unix.Connect(fd, sockaddr(to)); err != nil && err != unix.EINPROGRESS {
		return os.NewSyscallError("connect", err)
	}
	if err := await(fd, unix.POLLOUT); err != nil {
		return err
	}
	errno, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	return os.NewSyscallError("connect", err)
}

func tryDatagram(server int, to netip.AddrPort) error {
	client, err := newSocket(to.Addr(), unix.SOCK_DGRAM)
	if err != nil {
		return err
	}
	defer unix.Close(client)
	if err := unix.Sendto(client, []byte("try"), 0, sockaddr(to)); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	if err := await(server, unix.POLLIN); err != nil {
		return fmt.Errorf("it doesn't reach the DNS server's socket: %w", err)
	}
	_, _, err = unix.Recvfrom(server, make([]byte, 16), 0)
	return os.NewSyscallError("recvfrom", err)
}

var errPassed = errors.New("it isn't rejected")

func tryRejected(to netip.AddrPort) error {
	fd, err := newSocket(to.Addr(), unix.SOCK_DGRAM)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	switch err := unix.Sendto(fd, nil, 0, sockaddr(to)); err {
	case unix.EPERM:
		return nil
	case nil:
		return errPassed
	default:
		return os.NewSyscallError("sendto", err)
	}
}

// await waits until fd can be read or written.
func await(fd int, events int16) error {
	for deadline := time.Now().Add(patience); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, int(time.Until(deadline).Milliseconds()))
		switch {
		case n > 0:
			return nil
		case err == unix.EINTR && time.Now().Before(deadline):
		case err != nil:
			return os.NewSyscallError("poll", err)
		default:
			return unix.ETIMEDOUT
		}
	}
}
