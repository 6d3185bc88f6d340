package dnsproxy

import (
	"encoding/binary"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"lnk/policy"
)

// The longest that an answer is kept, whatever its TTL; and one that a name or a record isn't there (RFC 2308 section 5).
const (
	maxTTL         = 24 * time.Hour
	maxNegativeTTL = 3 * time.Hour
)

// answer is what the machine's resolver said to a question, without its OPT record. It is not changed once it is made, but for the two
// notes at the end.
type answer struct {
	name    policy.Name  // that was asked
	wire    []byte       // the whole message, with one question
	ttls    []uint16     // where the TTLs of its records are in wire
	rcode   int          // without the OPT record's upper bits
	addrs   []netip.Addr // that it gives for the name
	made    time.Time
	expires time.Time // not after made: it is not kept

	learnt atomic.Uint64 // what Book.drops was when the addresses were last learnt, and one more; 0 is never
	logged atomic.Int64  // the tick at which a line was last asked for; 0 is never
}

// newAnswer makes an answer of a server's message, which it takes over.
func newAnswer(q question, m *message, now time.Time) (*answer, error) {
	switch {
	case m.rcode > maskRcode: // about the OPT record that this proxy sent, and not the client's matter
		m = empty(q, dns.RcodeServerFailure)
	case binary.BigEndian.Uint16(m.wire[4:]) == 0: // an error from a server that couldn't read the question
		m = empty(q, m.rcode)
	}
	var hints []netip.Addr
	var err error
	if m.has(dns.TypeHTTPS, dns.TypeSVCB) {
		m, hints = stripped(q, m)
	}
	if m, err = m.withoutOPT(); err != nil {
		return nil, err
	}
	bits := binary.BigEndian.Uint16(m.wire[2:])
	binary.BigEndian.PutUint16(m.wire[2:], bits&^bitTC|bitRA)
	return &answer{
		name:    q.name,
		wire:    m.wire,
		ttls:    m.ttls(),
		rcode:   m.rcode,
		addrs:   m.addrs(q, hints),
		made:    now,
		expires: now.Add(m.lifetime(q)),
	}, nil
}

// size is about what the answer takes in memory.
func (a *answer) size() int { return cap(a.wire) + 2*len(a.ttls) + 24*len(a.addrs) + 200 }

func (m *message) ttls() []uint16 {
	all := make([]uint16, 0, len(m.records))
	for _, r := range m.records {
		all = append(all, uint16(r.ttlAt))
	}
	return all
}

// lifetime is how long an answer may be kept: until its first record expires; where there is none, for as long as the zone's SOA says
// (RFC 2308), and not at all without one. A failure isn't kept.
func (m *message) lifetime(q question) time.Duration {
	if !m.knows() {
		return 0
	}
	kept, positive := maxTTL, false
	for _, r := range m.records {
		switch {
		case r.section == 0:
			kept = min(kept, seconds(r.ttl))
			positive = positive || r.rtype != dns.TypeCNAME || q.qtype == dns.TypeCNAME
		case r.section == 1 && r.rtype == dns.TypeSOA && r.end-r.data >= 4 && !(positive && m.rcode == dns.RcodeSuccess):
			minimum := binary.BigEndian.Uint32(m.wire[r.end-4:]) // its last field
			return min(kept, seconds(r.ttl), seconds(minimum), maxNegativeTTL)
		}
	}
	if positive && m.rcode == dns.RcodeSuccess {
		return kept
	}
	return 0
}

func seconds(ttl uint32) time.Duration {
	if ttl >= 1<<31 { // RFC 2181 section 8: as if it were zero
		return 0
	}
	return time.Duration(ttl) * time.Second
}

// addrs are the addresses that an answer gives for the name that was asked: of its A and AAAA records, whatever name a chain of
// CNAMEs gave them to; the hints of HTTPS and SVCB records; and, where the question was about a service, those of the additional section
// that come with it.
func (m *message) addrs(q question, hints []netip.Addr) []netip.Addr {
	var all []netip.Addr
	for _, r := range m.records {
		if r.section == 0 || r.section == 2 && serves(q.qtype) {
			if a, ok := m.addr(r); ok {
				all = append(all, a)
			}
		}
	}
	return append(all, hints...)
}

// serves reports whether a question is about a service, whose answer names hosts.
func serves(qtype uint16) bool {
	switch qtype {
	case dns.TypeSRV, dns.TypeHTTPS, dns.TypeSVCB, dns.TypeMX, dns.TypeNS:
		return true
	}
	return false
}

// to writes the answer as the one to q, a query of the same question, in buf. limit is the most that the client takes.
func (a *answer) to(q *query, buf []byte, limit int, now time.Time) []byte {
	size := len(a.wire)
	if q.edns {
		size += optLen
	}
	if size > limit {
		return a.cutTo(q, limit, now)
	}
	return a.whole(q, buf, now)
}

// whole writes all of it: with the client's id and its spelling of the name, and TTLs less by the answer's age.
func (a *answer) whole(q *query, buf []byte, now time.Time) []byte {
	out := append(buf[:0], a.wire...)
	binary.BigEndian.PutUint16(out, q.id)
	binary.BigEndian.PutUint16(out[2:], a.bits(q))
	copy(out[headerLen:], q.name)
	if age := uint32(now.Sub(a.made) / time.Second); age > 0 {
		for _, at := range a.ttls {
			ttl := binary.BigEndian.Uint32(out[at:])
			binary.BigEndian.PutUint32(out[at:], ttl-min(ttl, age))
		}
	}
	if q.edns {
		out = appendOPT(out, a.rcode, q.do)
		binary.BigEndian.PutUint16(out[10:], binary.BigEndian.Uint16(out[10:])+1)
	}
	return out
}

// bits are the second word of the header of the answer to q.
func (a *answer) bits(q *query) uint16 {
	bits := binary.BigEndian.Uint16(a.wire[2:])&^(bitRD|bitCD) | q.bits&(bitRD|bitCD)
	if !q.wantsAD() {
		bits &^= bitAD
	}
	return bits
}

// cutTo writes as many records as a client takes, with the sign that there are more: it asks again over TCP, and one that can't has some.
func (a *answer) cutTo(q *query, limit int, now time.Time) []byte {
	m := new(dns.Msg)
	if err := m.Unpack(a.whole(q, nil, now)); err == nil {
		m.Truncate(limit)
		m.Compress = true
		cut, err := m.Pack()
		if err == nil && len(cut) <= limit && m.Unpack(cut) == nil {
			return cut
		}
	}
	bare := rcodeReply(nil, q, a.rcode)
	binary.BigEndian.PutUint16(bare[2:], binary.BigEndian.Uint16(bare[2:])|bitTC)
	return bare
}
