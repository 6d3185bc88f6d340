package dnsproxy

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	maxStreams  = 128              // connections of one listener at once; more wait to be accepted
	maxPending  = 32               // queries of one connection under way; it isn't read until one is answered
	streamIdle  = 10 * time.Second // a connection on which nothing is under way (RFC 7766 section 6.2.3: a few seconds)
	streamQuery = 5 * time.Second  // from a query's first octet to its last
	streamWrite = 5 * time.Second
)

// serveTCP accepts connections until ctx ends, and waits for those that are open.
func serveTCP(ctx context.Context, s *Server, l *lookups, listener net.Listener) {
	var open sync.WaitGroup
	defer open.Wait()
	room := make(chan struct{}, maxStreams)
	var wait time.Duration
	for {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		c, err := listener.Accept()
		switch {
		case err == nil:
			wait = 0
			open.Go(func() {
				defer func() { <-room }()
				serveStream(ctx, s, l, c)
			})
			continue
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		}
		<-room
		if !backoff(ctx, &wait) {
			return
		}
	}
}

// stream is one connection. Its queries may be many at once, and are answered as their answers come (RFC 7766 section 6.2.1.1).
type stream struct {
	s       *Server
	l       *lookups
	c       net.Conn
	r       *bufio.Reader
	read    int           // messages so far
	pending chan struct{} // room for queries under way
	asked   sync.WaitGroup
	mu      sync.Mutex // of writing
}

func serveStream(ctx context.Context, s *Server, l *lookups, c net.Conn) {
	st := &stream{s: s, l: l, c: c, r: bufio.NewReaderSize(c, querySize), pending: make(chan struct{}, maxPending)}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	defer st.asked.Wait()
	for {
		msg, err := st.next()
		if err != nil || !st.answer(ctx, msg) {
			return
		}
	}
}

var errNotDNS = errors.New("reading a query: not DNS")

// next reads one message. What doesn't begin as a query isn't waited for.
func (st *stream) next() ([]byte, error) {
	st.c.SetReadDeadline(time.Now().Add(streamIdle))
	if _, err := st.r.Peek(1); err != nil {
		return nil, err
	}
	st.c.SetReadDeadline(time.Now().Add(streamQuery))
	head, err := st.r.Peek(2 + headerLen)
	if err != nil || !begins(head) {
		return nil, st.notDNS()
	}
	msg := make([]byte, binary.BigEndian.Uint16(head))
	st.r.Discard(2)
	if _, err := io.ReadFull(st.r, msg); err != nil {
		return nil, st.notDNS()
	}
	st.read++
	return msg, nil
}

// begins reports whether a length and a header can be those of a query. Text can't: its letters make thousands of questions.
func begins(head []byte) bool {
	length, bits, questions := binary.BigEndian.Uint16(head), binary.BigEndian.Uint16(head[4:]), binary.BigEndian.Uint16(head[6:])
	return length >= headerLen && bits&bitQR == 0 && questions <= 16
}

// notDNS is the end of a connection that carries something else. One that has carried a query was merely cut off.
func (st *stream) notDNS() error {
	if st.read == 0 && st.s.NotDNS != nil {
		st.s.NotDNS(st.c)
	}
	return errNotDNS
}

// answer answers a message at once, or starts the goroutine that does. It returns false when the connection is of no more use.
func (st *stream) answer(ctx context.Context, msg []byte) bool {
	q := new(query)
	reply, later, name := st.s.reply(st.s.turn(), msg, q, true, nil)
	if !later {
		return reply != nil && st.write(reply)
	}
	select {
	case st.pending <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	st.asked.Add(1)
	done := func() { <-st.pending; st.asked.Done() }
	running := st.s.run(st.l, func(ctx context.Context) {
		defer done()
		if reply := st.s.lookUp(ctx, q, name, true); reply != nil {
			st.write(reply)
		}
	})
	if !running {
		done()
	}
	return running
}

// write writes one message in one call, so that it leaves in one segment (RFC 7766 section 8).
func (st *stream) write(msg []byte) bool {
	framed := binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(msg)), uint16(len(msg)))
	framed = append(framed, msg...)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.c.SetWriteDeadline(time.Now().Add(streamWrite))
	_, err := st.c.Write(framed)
	return err == nil
}
