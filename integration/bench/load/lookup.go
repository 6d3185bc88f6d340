package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"
)

// The lookups under way at a time: a burst on each of many sockets. All of them fit an ordinary socket's buffer.
const (
	lookupSockets = 32
	lookupBurst   = 4
)

// knownNames are how many names are asked for over and over.
const knownNames = 100

// lookUp asks for names below one: the same few, after each was asked for once, or always fresh ones.
func lookUp(args []string) (Result, error) {
	o := newOptions("dns")
	fresh := o.flags.Bool("fresh", false, "ask for no name twice")
	to, err := o.target(args)
	if err != nil {
		return Result{}, err
	}
	names := names{below: o.flags.Arg(1), run: rand.Text()[:8], fresh: *fresh}
	if err := names.warm(to); err != nil {
		return Result{}, err
	}
	o.parallel = lookupSockets
	return o.workers(func(n int, t *tally, over func() bool) {
		a, err := newAsker(to)
		if err != nil {
			t.failed, t.err = 1, err
			return
		}
		defer a.conn.Close()
		for i := 0; !over(); i += lookupBurst {
			a.burst(t, func(j int) string { return names.of(n, i+j) })
		}
	})
}

// names makes the names that are asked for.
type names struct {
	below, run string
	fresh      bool
}

func (n names) of(worker, i int) string {
	if n.fresh {
		return fmt.Sprintf("f%d-%d-%s.%s", worker, i, strings.ToLower(n.run), n.below)
	}
	return fmt.Sprintf("k%d.%s", (worker*7+i)%knownNames, n.below)
}

// warm asks for each known name once.
func (n names) warm(to netip.AddrPort) error {
	if n.fresh {
		return nil
	}
	a, err := newAsker(to)
	if err != nil {
		return err
	}
	defer a.conn.Close()
	var t tally
	for i := 0; i < knownNames; i += lookupBurst {
		a.burst(&t, func(j int) string { return n.of(0, i+j) })
	}
	return t.err
}

// asker asks and hears the answers on one socket.
type asker struct {
	conn  *net.UDPConn
	batch *ipv4.PacketConn
	out   []ipv4.Message
	in    []ipv4.Message
	id    uint16
}

func newAsker(to netip.AddrPort) (*asker, error) {
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, err
	}
	a := &asker{conn: conn, batch: ipv4.NewPacketConn(conn)}
	a.out, a.in = make([]ipv4.Message, lookupBurst), make([]ipv4.Message, lookupBurst)
	for i := range lookupBurst {
		a.in[i].Buffers = [][]byte{make([]byte, 1232)}
		a.out[i].Buffers = [][]byte{nil}
	}
	return a, nil
}

// burst asks for several names at once and waits for all the answers.
func (a *asker) burst(t *tally, name func(i int) string) {
	start := time.Now()
	first := a.id
	for i := range a.out {
		q, err := question(a.id, name(i))
		if err != nil {
			t.add(time.Since(start), err)
			return
		}
		a.out[i].Buffers[0] = q
		a.id++
	}
	if err := a.send(); err != nil {
		t.add(time.Since(start), err)
		return
	}
	for heard := 0; heard < lookupBurst; {
		a.conn.SetReadDeadline(time.Now().Add(time.Second))
		n, err := a.batch.ReadBatch(a.in, 0)
		if err != nil {
			t.failed, t.err = t.failed+lookupBurst-heard, err
			return
		}
		for _, m := range a.in[:n] {
			if answers, err := a.answers(m.Buffers[0][:m.N], first); answers {
				heard++
				t.add(time.Since(start), err)
			}
		}
	}
}

func (a *asker) send() error {
	for left := a.out; len(left) > 0; {
		n, err := a.batch.WriteBatch(left, 0)
		if err != nil {
			return err
		}
		left = left[n:]
	}
	return nil
}

// answers reports whether a message answers one of this burst's questions, and what is wrong with it.
func (a *asker) answers(m []byte, first uint16) (bool, error) {
	if len(m) < 12 || binary.BigEndian.Uint16(m)-first >= lookupBurst {
		return false, nil
	}
	if rcode := m[3] & 15; rcode != 0 {
		return true, fmt.Errorf("answered with rcode %d", rcode)
	}
	if binary.BigEndian.Uint16(m[6:]) == 0 {
		return true, errors.New("answered without a record")
	}
	return true, nil
}

// question is a question for a name's A records.
func question(id uint16, name string) ([]byte, error) {
	q := make([]byte, 12, 64)
	binary.BigEndian.PutUint16(q, id)
	q[2] = 1 // recursion desired
	q[5] = 1 // one question
	for label := range strings.SplitSeq(name, ".") {
		if len(label) == 0 || len(label) > 63 {
			return nil, fmt.Errorf("not a name: %q", name)
		}
		q = append(append(q, byte(len(label))), label...)
	}
	return append(q, 0, 0, byte(dnsmessage.TypeA), 0, byte(dnsmessage.ClassINET)), nil
}
