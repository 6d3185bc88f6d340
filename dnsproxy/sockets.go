package dnsproxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// How long and for how many questions a UDP socket is used, and how many idle ones are kept for one server. A new socket has a new port,
// chosen by the kernel at random, which whoever forges answers has to guess beside the id.
const (
	socketUses  = 256
	socketLife  = 10 * time.Second
	socketsIdle = 128
)

// sockets are connected UDP sockets to the machine's name servers. One has one question under way at a time, so what arrives on
// it can only be the answer to that one, or else is forged or late.
type sockets struct {
	mu     sync.Mutex
	idle   map[netip.AddrPort][]*socket
	trim   *time.Timer // runs while there are idle ones
	closed bool
}

type socket struct {
	*net.UDPConn
	to   netip.AddrPort
	uses int
	born time.Time
}

// get returns a socket that nobody else uses.
func (s *sockets) get(ctx context.Context, to netip.AddrPort) (*socket, error) {
	s.mu.Lock()
	for list := s.idle[to]; len(list) > 0; list = s.idle[to] {
		k := list[len(list)-1]
		s.idle[to] = list[:len(list)-1]
		if k.fresh() {
			s.mu.Unlock()
			k.uses++
			return k, nil
		}
		k.Close()
	}
	s.mu.Unlock()
	c, err := s.dial(ctx, to)
	if err != nil {
		return nil, err
	}
	return &socket{UDPConn: c, to: to, uses: 1, born: time.Now()}, nil
}

// dial makes a socket. Where there are no descriptors left it waits for some a while: other lookups and calls end.
func (s *sockets) dial(ctx context.Context, to netip.AddrPort) (c *net.UDPConn, err error) {
	for wait := 5 * time.Millisecond; wait < 4*time.Second; wait *= 2 {
		c, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
		if !errors.Is(err, unix.EMFILE) && !errors.Is(err, unix.ENFILE) {
			return c, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
	return nil, err
}

func (k *socket) fresh() bool { return k.uses < socketUses && time.Since(k.born) < socketLife }

// put gives a socket back whose question was answered.
func (s *sockets) put(k *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !k.fresh() || len(s.idle[k.to]) >= socketsIdle {
		k.Close()
		return
	}
	if s.idle == nil {
		s.idle = make(map[netip.AddrPort][]*socket)
	}
	s.idle[k.to] = append(s.idle[k.to], k)
	if s.trim == nil {
		s.trim = time.AfterFunc(socketLife, s.trimNow)
	}
}

// trimNow closes the sockets that have grown old, and comes again while there are others.
func (s *sockets) trimNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for to, list := range s.idle {
		kept := list[:0]
		for _, k := range list {
			if k.fresh() {
				kept = append(kept, k)
			} else {
				k.Close()
			}
		}
		if s.idle[to] = kept; len(kept) == 0 {
			delete(s.idle, to)
		}
	}
	s.trim = nil
	if len(s.idle) > 0 && !s.closed {
		s.trim = time.AfterFunc(socketLife, s.trimNow)
	}
}

// close closes the idle ones; those in use are closed when they come back.
func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.trim != nil {
		s.trim.Stop()
	}
	for _, list := range s.idle {
		for _, k := range list {
			k.Close()
		}
	}
	s.idle = nil
}
