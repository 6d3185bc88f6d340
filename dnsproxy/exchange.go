package dnsproxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// forgeries is how many datagrams that aren't the answer a try looks at before it gives up.
const forgeries = 32

var (
	errForged = errors.New("too many answers to other questions")
	errCut    = errors.New("the answer doesn't fit a datagram")
)

// ask is one question to one server, in wire form: what is sent, and how its answer is told from anything else.
type ask struct {
	question
	msg []byte
	id  uint16
}

// newAsk writes a question. The id comes from the runtime's ChaCha8 generator, which is seeded by the kernel.
func newAsk(q question, edns bool) *ask {
	a := &ask{question: q, id: uint16(rand.Uint32())}
	msg := make([]byte, headerLen, headerLen+255+4+optLen)
	binary.BigEndian.PutUint16(msg, a.id)
	bits := uint16(bitRD | bitAD) // AD: tell whether it was validated (RFC 6840 section 5.7)
	if q.cd {
		bits |= bitCD
	}
	binary.BigEndian.PutUint16(msg[2:], bits)
	binary.BigEndian.PutUint16(msg[4:], 1)
	msg = appendWire(msg, q.name)
	msg = binary.BigEndian.AppendUint16(msg, q.qtype)
	msg = binary.BigEndian.AppendUint16(msg, dns.ClassINET)
	if edns {
		binary.BigEndian.PutUint16(msg[10:], 1)
		msg = appendOPT(msg, 0, q.do)
	}
	a.msg = msg
	return a
}

// answers reports whether msg is the answer to this ask: its id and its question. A server that couldn't read the question leaves it out.
func (a *ask) answers(msg []byte) bool {
	if len(msg) < headerLen || binary.BigEndian.Uint16(msg) != a.id || binary.BigEndian.Uint16(msg[2:])&(bitQR|maskOpcode) != bitQR {
		return false
	}
	if binary.BigEndian.Uint16(msg[4:]) == 0 {
		return binary.BigEndian.Uint16(msg[2:])&maskRcode != dns.RcodeSuccess
	}
	end := plainNameEnd(a.msg, headerLen) + 4
	return binary.BigEndian.Uint16(msg[4:]) == 1 && len(msg) >= end &&
		bytes.EqualFold(msg[headerLen:end-4], a.msg[headerLen:end-4]) && bytes.Equal(msg[end-4:end], a.msg[end-4:end])
}

// await reads datagrams until the answer is there, or the read deadline.
func (a *ask) await(k net.Conn) (*message, error) {
	buf := datagrams.Get().(*[]byte)
	defer datagrams.Put(buf)
	for range forgeries {
		n, err := k.Read(*buf)
		if err != nil {
			return nil, err
		}
		if !a.answers((*buf)[:n]) {
			continue
		}
		if n == len(*buf) || binary.BigEndian.Uint16((*buf)[2:])&bitTC != 0 {
			return nil, errCut
		}
		return readMessage(bytes.Clone((*buf)[:n]))
	}
	return nil, errForged
}

// overTCP asks over a connection of its own (RFC 7766).
func (a *ask) overTCP(ctx context.Context, to netip.AddrPort, timeout time.Duration) (*message, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })()
	framed := binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(a.msg)), uint16(len(a.msg)))
	if _, err := c.Write(append(framed, a.msg...)); err != nil {
		return nil, err
	}
	var length [2]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return nil, err
	}
	msg := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(c, msg); err != nil {
		return nil, err
	}
	if !a.answers(msg) {
		return nil, errForged
	}
	return readMessage(msg)
}

// datagrams are buffers for answers. The servers are told that 1,232 octets fit; one that doesn't heed it is asked over TCP.
var datagrams = sync.Pool{New: func() any { b := make([]byte, 4096); return &b }}
