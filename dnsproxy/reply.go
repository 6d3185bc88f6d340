package dnsproxy

import (
	"encoding/binary"
	"net/netip"

	"github.com/miekg/dns"
)

// ednsSize is the size of UDP answers that this proxy says it takes itself, the one that fits every path
// (DNS Flag Day 2020).
const ednsSize = 1232

// optLen is the length of an OPT record without options.
const optLen = 11

// reply builds an answer that is the proxy's own, in wire form: a header, the question as the client wrote it, and records
// of the name that was asked.
type reply struct {
	msg    []byte
	q      *query
	rcode  int
	counts [2]uint16 // answer and additional records
}

// newReply begins an answer to q in buf, whose contents are given up.
func newReply(buf []byte, q *query) *reply {
	r := &reply{msg: append(buf[:0], make([]byte, headerLen)...), q: q}
	if q.name != nil {
		r.msg = append(r.msg, q.name...)
		r.msg = binary.BigEndian.AppendUint16(r.msg, q.qtype)
		r.msg = binary.BigEndian.AppendUint16(r.msg, q.qclass)
	}
	return r
}

// record adds a record of the name that was asked.
func (r *reply) record(rtype uint16, ttl uint32, data []byte) {
	r.msg = append(r.msg, 0xc0, headerLen) // the question's name
	r.msg = binary.BigEndian.AppendUint16(r.msg, rtype)
	r.msg = binary.BigEndian.AppendUint16(r.msg, dns.ClassINET)
	r.msg = binary.BigEndian.AppendUint32(r.msg, ttl)
	r.msg = binary.BigEndian.AppendUint16(r.msg, uint16(len(data)))
	r.msg = append(r.msg, data...)
	r.counts[0]++
}

// addr adds an A or AAAA record.
func (r *reply) addr(a netip.Addr, ttl uint32) {
	if a.Is4() {
		b := a.As4()
		r.record(dns.TypeA, ttl, b[:])
		return
	}
	b := a.As16()
	r.record(dns.TypeAAAA, ttl, b[:])
}

// done finishes the answer and returns it.
func (r *reply) done() []byte {
	if r.q.edns {
		r.msg = appendOPT(r.msg, r.rcode, r.q.do)
		r.counts[1]++
	}
	h := r.msg[:headerLen]
	binary.BigEndian.PutUint16(h, r.q.id)
	bits := bitQR | bitRA | r.q.bits&(maskOpcode|bitRD|bitCD) | uint16(r.rcode&maskRcode)
	binary.BigEndian.PutUint16(h[2:], bits)
	if r.q.name != nil {
		binary.BigEndian.PutUint16(h[4:], 1)
	}
	binary.BigEndian.PutUint16(h[6:], r.counts[0])
	binary.BigEndian.PutUint16(h[10:], r.counts[1])
	return r.msg
}

// appendOPT adds an OPT record; the upper bits of rcode stand in it.
func appendOPT(msg []byte, rcode int, do bool) []byte {
	msg = append(msg, 0)
	msg = binary.BigEndian.AppendUint16(msg, dns.TypeOPT)
	msg = binary.BigEndian.AppendUint16(msg, ednsSize)
	flags := uint32(rcode>>4) << 24
	if do {
		flags |= 1 << 15
	}
	msg = binary.BigEndian.AppendUint32(msg, flags)
	return append(msg, 0, 0)
}

// rcodeReply is an answer that holds no record.
func rcodeReply(buf []byte, q *query, rcode int) []byte {
	r := newReply(buf, q)
	r.rcode = rcode
	return r.done()
}

// maxOwn is how many records an answer of the proxy's own has at most.
const maxOwn = 16

// fits reports whether one more record with so much data has a place: what doesn't is left out, for there are enough.
func (r *reply) fits(data int) bool {
	return r.counts[0] < maxOwn && len(r.msg)+12+data+optLen <= int(r.q.size)
}

// addrReply is an answer of those addresses that are of the family asked for. It is an empty answer to any other question; ANY is
// answered with one family (RFC 8482).
func addrReply(buf []byte, q *query, addrs []netip.Addr, ttl uint32) []byte {
	r := newReply(buf, q)
	for _, a := range addrs {
		if !r.fits(16) {
			break
		}
		if family(a) == q.qtype || q.qtype == dns.TypeANY && (r.counts[0] == 0 || a.Is4() == addrs[0].Is4()) {
			r.addr(a, ttl)
		}
	}
	return r.done()
}

// family is the type of the record that holds an address.
func family(a netip.Addr) uint16 {
	if a.Is4() {
		return dns.TypeA
	}
	return dns.TypeAAAA
}
