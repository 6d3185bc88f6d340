package proxy

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// handoff is a listener whose connections are given to it.
type handoff struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newHandoff() *handoff { return &handoff{conns: make(chan net.Conn), done: make(chan struct{})} }

// give hands a connection over; it reports false where nobody takes it any more.
func (h *handoff) give(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.done:
		return false
	}
}

func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

func (h *handoff) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

func (h *handoff) Addr() net.Addr { return &net.TCPAddr{} }

// frontConn is a client's connection as the HTTP server reads it: from the bytes that were sniffed on. It counts what is read.
// The TCP connection is embedded as an interface, so that no method of its own goes round Read.
type frontConn struct {
	net.Conn
	flow  *httpFlow
	first []byte
}

func (c *frontConn) Read(p []byte) (n int, err error) {
	if len(c.first) > 0 {
		n = copy(p, c.first)
		c.first = c.first[n:]
	} else {
		n, err = c.Conn.Read(p)
	}
	c.flow.read.Add(int64(n))
	return n, err
}

func (c *frontConn) Write(p []byte) (int, error) {
	c.flow.wrote()
	return c.Conn.Write(p)
}

func (c *frontConn) CloseWrite() error { return halfClose(c.flow.client) }

// countedConn is an upstream connection as the transport uses it.
type countedConn struct {
	net.Conn
	dialed dialed
	flow   *httpFlow
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.flow.in.Add(int64(n))
	c.flow.wire.Counter.Add(0, int64(n))
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.flow.out.Add(int64(n))
	c.flow.wire.Counter.Add(int64(n), 0)
	return n, err
}

func (c *countedConn) CloseWrite() error { return halfClose(c.dialed.conn) }

func (c *countedConn) Close() error {
	c.flow.detach(c.dialed.conn)
	return c.Conn.Close()
}

// countedBody and countedResponse count the bytes of one HTTP/2 stream's bodies: the streams share a connection, so that a stream's share of
// its frames can't be told.
type countedBody struct {
	io.ReadCloser
	call *call
}

func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.call.carried(int64(n), 0)
	return n, err
}

type countedResponse struct {
	http.ResponseWriter
	call *call
}

func (r countedResponse) Write(p []byte) (int, error) {
	n, err := r.ResponseWriter.Write(p)
	r.call.carried(0, int64(n))
	return n, err
}

func (r countedResponse) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// upgradeWriter gives a hijacked connection together with what the server has read of it already: a client may send on before it has
// the answer to its upgrade, and those bytes are the new protocol's.
type upgradeWriter struct{ http.ResponseWriter }

func (w upgradeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w upgradeWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	first, err := buffered.Reader.Peek(buffered.Reader.Buffered())
	if err != nil {
		return nil, nil, err
	}
	front := c.(*frontConn)
	front.first = append(first[:len(first):len(first)], front.first...)
	front.flow.read.Add(-int64(len(first))) // counted once more when it is read again
	return front, buffered, nil
}

// copyBuffers lends the relay's buffers to net/http.
type copyBuffers struct{}

func (copyBuffers) Get() []byte  { return *buffers.get() }
func (copyBuffers) Put(b []byte) { buffers.put(&b) }

// discard is where net/http's own words about single connections go: what there is to say of a call is in the wire's log.
var discard = log.New(io.Discard, "", 0)
