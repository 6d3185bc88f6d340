package dnsproxy

import (
	"bytes"
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

const (
	batchSize  = 16      // datagrams read with one system call
	querySize  = 2048    // octets of a query that are read: a question, an OPT and its padding
	receiveBuf = 4 << 20 // octets that wait to be read, as far as the kernel grants them
	maxReaders = 4       // of one socket
)

// batches reads and writes several datagrams at a time. Both families' sockets of x/net have it.
type batches interface {
	ReadBatch([]ipv4.Message, int) (int, error)
	WriteBatch([]ipv4.Message, int) (int, error)
}

// serveUDP starts the readers of one socket: while one answers what it has read, the next one reads.
func serveUDP(ctx context.Context, s *Server, l *lookups, c net.PacketConn, loops *sync.WaitGroup) {
	if c, ok := c.(*net.UDPConn); ok {
		c.SetReadBuffer(receiveBuf)
	}
	for range min(runtime.GOMAXPROCS(0), maxReaders) {
		r := &reader{s: s, l: l, conn: c, batches: batchesOf(c)}
		loops.Go(func() { r.run(ctx) })
	}
}

func batchesOf(c net.PacketConn) batches {
	u, ok := c.(*net.UDPConn)
	if !ok {
		return oneByOne{c}
	}
	if a, ok := u.LocalAddr().(*net.UDPAddr); ok && a.IP.To4() == nil {
		return ipv6.NewPacketConn(u)
	}
	return ipv4.NewPacketConn(u)
}

// reader answers the datagrams of one socket. A reply leaves by the socket its query came on.
type reader struct {
	batches
	s    *Server
	l    *lookups
	conn net.PacketConn
	in   []ipv4.Message
	out  []ipv4.Message
	bufs [batchSize][]byte // where replies are written
}

func (r *reader) run(ctx context.Context) {
	r.in = make([]ipv4.Message, batchSize)
	room := make([]byte, batchSize*querySize)
	for i := range r.in {
		r.in[i].Buffers = [][]byte{room[i*querySize : (i+1)*querySize]}
	}
	r.out = make([]ipv4.Message, 0, batchSize)
	var wait time.Duration
	for {
		n, err := r.ReadBatch(r.in, 0)
		switch {
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			if !backoff(ctx, &wait) {
				return
			}
			continue
		}
		wait = 0
		r.answer(r.in[:n])
	}
}

// answer answers what can be answered at once, and starts a goroutine for each of the others.
func (r *reader) answer(in []ipv4.Message) {
	t := r.s.turn()
	out := r.out[:0]
	for i := range in {
		var q query
		msg := in[i].Buffers[0][:in[i].N]
		reply, later, name := r.s.reply(t, msg, &q, false, r.bufs[i])
		if later {
			q.name = bytes.Clone(q.name)
			to := in[i].Addr
			r.s.run(r.l, func(ctx context.Context) {
				if reply := r.s.lookUp(ctx, &q, name, false); reply != nil {
					r.conn.WriteTo(reply, to)
				}
			})
			continue
		}
		if reply != nil {
			r.bufs[i] = reply[:0]
			out = append(out, ipv4.Message{Buffers: [][]byte{reply}, Addr: in[i].Addr})
		}
	}
	for len(out) > 0 {
		n, err := r.WriteBatch(out, 0)
		if err != nil || n == 0 { // of the first: nobody can be told, the others still can
			n = 1
		}
		out = out[n:]
	}
}

// oneByOne makes batches of one for any other kind of packet connection.
type oneByOne struct{ net.PacketConn }

func (o oneByOne) ReadBatch(ms []ipv4.Message, _ int) (int, error) {
	n, from, err := o.ReadFrom(ms[0].Buffers[0])
	if err != nil {
		return 0, err
	}
	ms[0].N, ms[0].Addr = n, from
	return 1, nil
}

func (o oneByOne) WriteBatch(ms []ipv4.Message, _ int) (int, error) {
	if _, err := o.WriteTo(ms[0].Buffers[0], ms[0].Addr); err != nil {
		return 0, err
	}
	return 1, nil
}
