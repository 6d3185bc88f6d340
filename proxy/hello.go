package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"lnk/policy"
)

// errHelloRead ends the handshake of readHello once the ClientHello has been read.
var errHelloRead = errors.New("the ClientHello was read")

// readHello reads a ClientHello whole, however it is cut over segments and records, with crypto/tls behind a recorder, so that it can be
// replayed as it came. What crypto/tls can't read is malformed. The hello is only read: an allowed call is never opened.
func (f *flow) readHello(g greeting) greeting { return readHello(f.ctx, f.client, g) }

func readHello(ctx context.Context, client net.Conn, g greeting) greeting {
	r := &recorder{conn: client, read: g.bytes}
	var shown string
	config := &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		shown = h.ServerName
		return nil, errHelloRead
	}}
	err := tls.Server(r, config).HandshakeContext(ctx)
	g.bytes = r.read
	if !errors.Is(err, errHelloRead) {
		g.protocol = malformed
		return g
	}
	if shown == "" {
		return g
	}
	if g.shown, err = policy.ParseHost(shown); err != nil {
		g.protocol = malformed
	}
	return g
}

// recorder lets crypto/tls read a connection, from bytes that were read already and on, and keeps all of it. What is written is dropped: an
// alert is not the wire's to send.
type recorder struct {
	conn net.Conn
	read []byte
	pos  int
}

var errTooLong = errors.New("the ClientHello is too long")

func (r *recorder) Read(p []byte) (int, error) {
	if r.pos == len(r.read) {
		if len(r.read) >= maxGreeting {
			return 0, errTooLong
		}
		n, err := r.conn.Read(p)
		r.read = append(r.read, p[:n]...)
		r.pos += n
		return n, err
	}
	n := copy(p, r.read[r.pos:])
	r.pos += n
	return n, nil
}

func (r *recorder) Write(p []byte) (int, error)      { return len(p), nil }
func (r *recorder) Close() error                     { return nil }
func (r *recorder) LocalAddr() net.Addr              { return r.conn.LocalAddr() }
func (r *recorder) RemoteAddr() net.Addr             { return r.conn.RemoteAddr() }
func (r *recorder) SetDeadline(time.Time) error      { return nil }
func (r *recorder) SetReadDeadline(time.Time) error  { return nil }
func (r *recorder) SetWriteDeadline(time.Time) error { return nil }
