package internet

import (
	"io"
	"net"
	"net/netip"
	"sync"
)

// front passes a real server's calls through a recorded listener, so that its record is like every other: dial makes
// the connection to the server itself.
func (s *Server) front(port uint16, dial func() (halfCloser, error), addrs ...netip.Addr) error {
	return s.raw(port, func(c *Conn) {
		backend, err := dial()
		if err != nil {
			c.Reset()
			return
		}
		defer backend.Close()
		var both sync.WaitGroup
		both.Go(func() { pass(backend, c) })
		both.Go(func() { pass(c, backend) })
		both.Wait()
	}, addrs...)
}

// halfCloser is a connection of which one direction can be ended.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// pass copies one direction and passes its end on.
func pass(to, from halfCloser) {
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return
	}
	to.CloseWrite()
}

// unixSocket dials a server's socket file: a path is the same in every network namespace.
func unixSocket(path string) func() (halfCloser, error) {
	return func() (halfCloser, error) {
		return net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	}
}

// loopback dials a server on the internet's own loopback.
func (n *network) loopback(port uint16) func() (halfCloser, error) {
	return func() (halfCloser, error) {
		return n.dial(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port))
	}
}
