package dnsproxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/miekg/dns"
)

// message is a name server's answer as it came, with where its records are. What isn't changed is passed on octet for octet: types that
// no library here knows, and spellings that one would lose.
type message struct {
	wire    []byte // up to the end of the last record
	rcode   int    // with the upper bits that stand in the OPT record
	records []record
}

// record is where a record is in a message.
type record struct {
	section int // 0 answer, 1 authority, 2 additional
	rtype   uint16
	class   uint16
	ttl     uint32
	at      int // where it begins
	ttlAt   int
	data    int // where its data begins
	end     int
}

var errMalformed = errors.New("malformed")

// readMessage finds the records of a message that has one question, or none.
func readMessage(wire []byte) (*message, error) {
	if len(wire) < headerLen {
		return nil, errMalformed
	}
	m := &message{rcode: int(binary.BigEndian.Uint16(wire[2:]) & maskRcode)}
	at := headerLen
	if binary.BigEndian.Uint16(wire[4:]) == 1 {
		if at = plainNameEnd(wire, at); at == 0 || at+4 > len(wire) {
			return nil, errMalformed
		}
		at += 4
	}
	for section := range 3 {
		for range binary.BigEndian.Uint16(wire[6+2*section:]) {
			r, ok := readRecord(wire, at)
			if !ok {
				return nil, errMalformed
			}
			r.section = section
			if r.rtype == dns.TypeOPT {
				m.rcode |= int(r.ttl>>24) << 4
			}
			m.records = append(m.records, r)
			at = r.end
		}
	}
	m.wire = wire[:at]
	return m, nil
}

func readRecord(wire []byte, at int) (r record, ok bool) {
	r.at = at
	at = nameEnd(wire, at)
	if at == 0 || at+10 > len(wire) {
		return r, false
	}
	r.rtype, r.class = binary.BigEndian.Uint16(wire[at:]), binary.BigEndian.Uint16(wire[at+2:])
	r.ttlAt, r.ttl = at+4, binary.BigEndian.Uint32(wire[at+4:])
	r.data = at + 10
	r.end = r.data + int(binary.BigEndian.Uint16(wire[at+8:]))
	return r, r.end <= len(wire)
}

// knows reports whether the answer ends the search for one: it says what there is, or that there is nothing.
func (m *message) knows() bool {
	return m.rcode == dns.RcodeSuccess || m.rcode == dns.RcodeNameError
}

// answered reports whether the answer holds something.
func (m *message) answered() bool {
	return m.rcode == dns.RcodeSuccess && len(m.records) > 0 && m.records[0].section == 0
}

// has reports whether there is a record of one of the types.
func (m *message) has(types ...uint16) bool {
	for _, r := range m.records {
		for _, t := range types {
			if r.rtype == t {
				return true
			}
		}
	}
	return false
}

// addr is the address that a record holds.
func (m *message) addr(r record) (netip.Addr, bool) {
	want := 4
	switch {
	case r.class != dns.ClassINET:
		return netip.Addr{}, false
	case r.rtype == dns.TypeAAAA:
		want = 16
	case r.rtype != dns.TypeA:
		return netip.Addr{}, false
	}
	data := m.wire[r.data:r.end]
	if len(data) != want {
		return netip.Addr{}, false
	}
	a, ok := netip.AddrFromSlice(data)
	return plain(a), ok
}

// rewrite changes a message by way of its parts.
func (m *message) rewrite(change func(*dns.Msg)) (*message, error) {
	parts := new(dns.Msg)
	if err := parts.Unpack(m.wire); err != nil {
		return nil, fmt.Errorf("reading an answer: %w", err)
	}
	change(parts)
	parts.Compress = true
	wire, err := parts.Pack()
	if err != nil {
		return nil, fmt.Errorf("writing an answer: %w", err)
	}
	return readMessage(wire)
}

// withoutOPT is the message without its OPT record, which is between this proxy and the server. It is the last one, but where the message is signed.
func (m *message) withoutOPT() (*message, error) {
	for i, r := range m.records {
		if r.rtype != dns.TypeOPT {
			continue
		}
		if r.section != 2 || i != len(m.records)-1 {
			return m.rewrite(func(parts *dns.Msg) { parts.Extra = dropOPT(parts.Extra) })
		}
		cut := &message{wire: m.wire[:r.at], rcode: m.rcode, records: m.records[:i]}
		binary.BigEndian.PutUint16(cut.wire[10:], binary.BigEndian.Uint16(cut.wire[10:])-1)
		return cut, nil
	}
	return m, nil
}

func dropOPT(rrs []dns.RR) []dns.RR {
	kept := rrs[:0]
	for _, rr := range rrs {
		if rr.Header().Rrtype != dns.TypeOPT {
			kept = append(kept, rr)
		}
	}
	return kept
}

// empty is a message without records, for a question.
func empty(q question, rcode int) *message {
	ask := newAsk(q, false)
	wire := ask.msg
	binary.BigEndian.PutUint16(wire[2:], bitQR|uint16(rcode&maskRcode))
	return &message{wire: wire, rcode: rcode & maskRcode}
}
