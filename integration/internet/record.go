package internet

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// keep is how much of what a call sent is kept.
const keep = 64 << 10

// Call is the record of one TCP connection that reached a server. In is what the server read, Out what it wrote, in
// bytes on the connection itself: for TLS, records and handshake.
type Call struct {
	Local, Remote netip.AddrPort
	In, Out       int64
	First         []byte // the first 64 KB that came
	Ended         bool
}

// Server is one server of the internet, or one set of listeners that keep one record. It is safe for use from many
// goroutines.
type Server struct {
	Name string

	net       *network
	mu        sync.Mutex
	calls     []*Call
	open      map[net.Conn]bool
	requests  []Request
	listeners []net.Listener
	changed   chan struct{} // closed and made anew at each change of the record
}

func newServer(n *network, name string) *Server {
	return &Server{Name: name, net: n, open: map[net.Conn]bool{}, changed: make(chan struct{})}
}

// Calls are the connections that came since the world was given to this test, oldest first.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := make([]Call, len(s.calls))
	for i, c := range s.calls {
		calls[i] = *c
	}
	return calls
}

// Bytes is all that came, up to 64 KB of each call, in the order of the calls.
func (s *Server) Bytes() []byte {
	var all []byte
	for _, c := range s.Calls() {
		all = append(all, c.First...)
	}
	return all
}

// Settled waits until every call of the record has ended, and gives them. It fails when ctx ends first.
func (s *Server) Settled(ctx context.Context) ([]Call, error) {
	return s.await(ctx, "every call ended", func(calls []Call) bool {
		for _, c := range calls {
			if !c.Ended {
				return false
			}
		}
		return true
	})
}

// Await waits until the calls are as ok wants them.
func (s *Server) Await(ctx context.Context, what string, ok func([]Call) bool) error {
	_, err := s.await(ctx, what, ok)
	return err
}

func (s *Server) await(ctx context.Context, what string, ok func([]Call) bool) ([]Call, error) {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		calls := s.Calls()
		if ok(calls) {
			return calls, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return calls, fmt.Errorf("server %s: waiting for %s: %w (%d calls)", s.Name, what, ctx.Err(), len(calls))
		}
	}
}

// update changes the record under the lock and tells those who wait.
func (s *Server) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// reset ends the calls that are still open and empties the record.
func (s *Server) reset() {
	s.mu.Lock()
	open := s.open
	s.open = map[net.Conn]bool{}
	s.mu.Unlock()
	for c := range open {
		c.Close()
	}
	s.update(func() { s.calls, s.requests = nil, nil })
}

// listen opens recorded listeners on the port at every address given.
func (s *Server) listen(port uint16, addrs ...netip.Addr) ([]net.Listener, error) {
	var all []net.Listener
	for _, a := range addrs {
		l, err := s.net.listen(netip.AddrPortFrom(a, port))
		if err != nil {
			return nil, fmt.Errorf("server %s: %w", s.Name, err)
		}
		all = append(all, &recorded{l, s})
	}
	s.mu.Lock()
	s.listeners = append(s.listeners, all...)
	s.mu.Unlock()
	return all, nil
}

// close ends the listeners and the calls.
func (s *Server) close() {
	s.mu.Lock()
	listeners := s.listeners
	s.mu.Unlock()
	for _, l := range listeners {
		l.Close()
	}
	s.reset()
}

// recorded is a listener whose connections keep the server's record.
type recorded struct {
	*net.TCPListener
	server *Server
}

func (l *recorded) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	call := &Call{Local: addrPort(c.LocalAddr()), Remote: addrPort(c.RemoteAddr())}
	conn := &Conn{TCPConn: c, server: l.server, call: call}
	l.server.update(func() {
		l.server.calls = append(l.server.calls, call)
		l.server.open[conn] = true
	})
	return conn, nil
}

func addrPort(a net.Addr) netip.AddrPort {
	p := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

// Conn is a recorded connection as a server sees it.
type Conn struct {
	*net.TCPConn
	server *Server
	call   *Call
	once   sync.Once
}

func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	if n > 0 {
		c.server.update(func() {
			c.call.In += int64(n)
			if room := keep - len(c.call.First); room > 0 {
				c.call.First = append(c.call.First, b[:min(n, room)]...)
			}
		})
	}
	return n, err
}

func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.TCPConn.Write(b)
	if n > 0 {
		c.server.update(func() { c.call.Out += int64(n) })
	}
	return n, err
}

// ReadFrom and WriteTo take the place of the embedded connection's, which would go past the record.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{c}, r) }

// WriteTo is described with ReadFrom.
func (c *Conn) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{c}) }

// Close ends the call; its record is then final.
func (c *Conn) Close() error {
	err := c.TCPConn.Close()
	c.once.Do(func() {
		c.server.update(func() {
			c.call.Ended = true
			delete(c.server.open, c)
		})
	})
	return err
}

// Reset ends the call with a reset instead of an end of the stream.
func (c *Conn) Reset() error {
	c.SetLinger(0)
	return c.Close()
}

// within is a context that ends after d, for those who wait.
func within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}
