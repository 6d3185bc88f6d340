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
	wire    []byte       // the whole message, packed, with id 0
	ttls    []uint16     // where the TTLs of its records are in wire
	rcode   int          // of the whole, without the OPT record's upper bits
	addrs   []netip.Addr // that it gives for the name
	made    time.Time
	expires time.Time // not after made: it is not kept

	learnt atomic.Uint64 // what Book.drops was when the addresses were last learnt, and one more; 0 is never
	logged atomic.Int64  // when a line was last asked for, in nanoseconds
}

// newAnswer makes an answer of a resolver's reply to q. The reply is changed: it loses its OPT record, and what would hide a call that follows.
func newAnswer(q question, m *dns.Msg, now time.Time) (*answer, error) {
	m.Extra = withoutOPT(m.Extra)
	if stripServices(m) {
		m.AuthenticatedData = false
	}
	m.Id, m.Compress, m.RecursionAvailable = 0, true, true
	m.Rcode &= maskRcode
	wire, err := m.Pack()
	if err != nil {
		return nil, err
	}
	return &answer{
		name:    q.name,
		wire:    wire,
		ttls:    ttlOffsets(wire),
		rcode:   m.Rcode,
		addrs:   addresses(q, m),
		made:    now,
		expires: now.Add(lifetime(m)),
	}, nil
}

func withoutOPT(rrs []dns.RR) []dns.RR {
	kept := rrs[:0]
	for _, rr := range rrs {
		if rr.Header().Rrtype != dns.TypeOPT {
			kept = append(kept, rr)
		}
	}
	return kept
}

// size is about what the answer takes in memory.
func (a *answer) size() int { return len(a.wire) + 2*len(a.ttls) + 24*len(a.addrs) + 200 }

// lifetime is how long an answer may be kept: until its first record expires; where there is none, for as long as the zone's SOA says
// (RFC 2308), and not at all without one. A failure isn't kept.
func lifetime(m *dns.Msg) time.Duration {
	if m.Truncated || m.Rcode != dns.RcodeSuccess && m.Rcode != dns.RcodeNameError {
		return 0
	}
	ttl := uint32(maxTTL / time.Second)
	positive := false
	for _, rr := range m.Answer {
		ttl = min(ttl, rr.Header().Ttl)
		positive = positive || rr.Header().Rrtype != dns.TypeCNAME || len(m.Question) == 1 && m.Question[0].Qtype == dns.TypeCNAME
	}
	if positive && m.Rcode == dns.RcodeSuccess {
		return seconds(ttl)
	}
	for _, rr := range m.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			return min(seconds(min(ttl, soa.Hdr.Ttl, soa.Minttl)), maxNegativeTTL)
		}
	}
	return 0
}

func seconds(ttl uint32) time.Duration {
	if ttl >= 1<<31 { // RFC 2181 section 8: as if it were zero
		return 0
	}
	return time.Duration(ttl) * time.Second
}

// addresses are those that an answer gives for the name that was asked: of its A and AAAA records, whatever name a chain of
// CNAMEs gave them to; of the hints of HTTPS and SVCB records; and, where the question was about a service, those of the additional section
// that come with it.
func addresses(q question, m *dns.Msg) []netip.Addr {
	all := appendAddrs(nil, m.Answer)
	switch q.qtype {
	case dns.TypeSRV, dns.TypeHTTPS, dns.TypeSVCB, dns.TypeMX, dns.TypeNS:
		all = appendAddrs(all, m.Extra)
	}
	return all
}

func appendAddrs(all []netip.Addr, rrs []dns.RR) []netip.Addr {
	for _, rr := range rrs {
		switch rr := rr.(type) {
		case *dns.A:
			all = appendIP(all, rr.A)
		case *dns.AAAA:
			all = appendIP(all, rr.AAAA)
		case *dns.HTTPS:
			all = appendHints(all, &rr.SVCB)
		case *dns.SVCB:
			all = appendHints(all, rr)
		}
	}
	return all
}

func appendIP(all []netip.Addr, ip []byte) []netip.Addr {
	if a, ok := netip.AddrFromSlice(ip); ok {
		all = append(all, plain(a))
	}
	return all
}

// ttlOffsets finds the TTLs in a message that was packed here.
func ttlOffsets(wire []byte) []uint16 {
	records := 0
	for i := 6; i < headerLen; i += 2 {
		records += int(binary.BigEndian.Uint16(wire[i:]))
	}
	if records == 0 {
		return nil
	}
	offsets := make([]uint16, 0, records)
	at := nameEnd(wire, headerLen) + 4
	for range records {
		at = nameEnd(wire, at)
		offsets = append(offsets, uint16(at+4))
		at += 10 + int(binary.BigEndian.Uint16(wire[at+8:]))
	}
	return offsets
}

// to writes the answer as the one to q, a query of the same question, in buf: with the client's id and its spelling of the
// name, and TTLs less by the answer's age. limit is the most that the client takes.
func (a *answer) to(q *query, buf []byte, limit int, now time.Time) []byte {
	size := len(a.wire)
	if q.edns {
		size += optLen
	}
	if size > limit {
		return a.cutTo(q, limit, now)
	}
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
	whole := a.to(q, nil, dns.MaxMsgSize, now)
	m := new(dns.Msg)
	if err := m.Unpack(whole); err == nil {
		m.Truncate(limit)
		m.Compress = true
		if cut, err := m.Pack(); err == nil && len(cut) <= limit {
			return cut
		}
	}
	bare := rcodeReply(nil, q, a.rcode)
	binary.BigEndian.PutUint16(bare[2:], binary.BigEndian.Uint16(bare[2:])|bitTC)
	return bare
}
