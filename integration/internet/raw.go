package internet

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
)

// Handler is a raw server's conversation on one connection, which ends when it returns.
type Handler func(*Conn)

// raw serves a conversation on a port of the addresses.
func (s *Server) raw(port uint16, h Handler, addrs ...netip.Addr) error {
	listeners, err := s.listen(port, addrs...)
	if err != nil {
		return err
	}
	for _, l := range listeners {
		go accept(l, h)
	}
	return nil
}

func accept(l net.Listener, h Handler) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		go func() {
			defer c.Close()
			h(c.(*Conn))
		}()
	}
}

// Listen runs a raw server on a port of addresses of the internet, for this test.
func (w *World) Listen(t testing.TB, port uint16, h Handler, addrs ...netip.Addr) *Server {
	t.Helper()
	s := newServer(w.net, t.Name())
	if err := s.raw(port, h, addrs...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// Echo sends back what comes, and half-closes when the client does.
func Echo(c *Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		if n > 0 {
			if _, err := c.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Greet speaks first, with one line, and then echoes.
func Greet(line string) Handler {
	return func(c *Conn) {
		io.WriteString(c, line)
		Echo(c)
	}
}

// SumOf reads to the end of the client's stream, answers with its length and SHA-256 on a line, then sends after bytes
// of Stream.
func SumOf(after int64) Handler {
	return func(c *Conn) {
		h := sha256.New()
		n, err := io.Copy(h, c)
		if err != nil {
			return
		}
		fmt.Fprintf(c, "%d %x\n", n, h.Sum(nil))
		io.Copy(c, NewStream(after))
	}
}

// ResetAfter reads n bytes and then resets the connection.
func ResetAfter(n int64) Handler {
	return func(c *Conn) {
		io.CopyN(io.Discard, c, n)
		c.Reset()
	}
}

// Sink reads to the end and says nothing.
func Sink(c *Conn) { io.Copy(io.Discard, c) }
