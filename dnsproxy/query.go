package dnsproxy

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// headerLen is the length of a DNS message's header (RFC 1035 section 4.1.1).
const headerLen = 12

// The bits of a header's second word.
const (
	bitQR = 1 << 15
	bitAA = 1 << 10
	bitTC = 1 << 9
	bitRD = 1 << 8
	bitRA = 1 << 7
	bitAD = 1 << 5
	bitCD = 1 << 4

	maskOpcode = 0xf << 11
	maskRcode  = 0xf
)

// rcodeBadVersion is BADVERS of RFC 6891, whose upper bits stand in the OPT record.
const rcodeBadVersion = dns.RcodeBadVers

// query is what a client asks. Its slices point into the message that was parsed.
type query struct {
	id      uint16
	bits    uint16 // the header's second word
	name    []byte // the name in wire form as it was written, its case kept
	qtype   uint16
	qclass  uint16
	edns    bool   // the query has an OPT record
	version uint8  // of EDNS
	do      bool   // DNSSEC records wanted
	size    uint16 // of the largest UDP answer the client takes; at least 512
}

// wantsAD says whether the AD bit of an answer means anything to the client (RFC 6840 section 5.7).
func (q *query) wantsAD() bool { return q.do || q.bits&bitAD != 0 }

// parseQuery reads a client's message. drop means that it deserves no answer at all (no header, or an answer itself); otherwise an
// rcode other than success is the answer it deserves, and q holds what could be read of it.
func parseQuery(msg []byte, q *query) (rcode int, drop bool) {
	*q = query{size: dns.MinMsgSize}
	if len(msg) < headerLen {
		return 0, true
	}
	q.id = binary.BigEndian.Uint16(msg)
	q.bits = binary.BigEndian.Uint16(msg[2:])
	if q.bits&bitQR != 0 {
		return 0, true
	}
	if q.bits&maskOpcode != 0 {
		return dns.RcodeNotImplemented, false
	}
	questions, answers := binary.BigEndian.Uint16(msg[4:]), binary.BigEndian.Uint16(msg[6:])
	authority, additional := binary.BigEndian.Uint16(msg[8:]), binary.BigEndian.Uint16(msg[10:])
	// A query's additional section holds an OPT and a TSIG at most.
	if questions != 1 || answers != 0 || authority != 0 || additional > 2 {
		return dns.RcodeFormatError, false
	}
	at := q.readQuestion(msg)
	if at == 0 {
		return dns.RcodeFormatError, false
	}
	for range additional {
		if at = q.readAdditional(msg, at); at == 0 {
			return dns.RcodeFormatError, false
		}
	}
	if q.version != 0 {
		return rcodeBadVersion, false
	}
	return dns.RcodeSuccess, false
}

// readQuestion reads the question, and returns where it ends; 0 means that it isn't one.
func (q *query) readQuestion(msg []byte) int {
	end := plainNameEnd(msg, headerLen)
	if end == 0 || end+4 > len(msg) {
		return 0
	}
	q.name = msg[headerLen:end:end]
	q.qtype = binary.BigEndian.Uint16(msg[end:])
	q.qclass = binary.BigEndian.Uint16(msg[end+2:])
	return end + 4
}

// readAdditional reads one record of the additional section, and returns where it ends; 0 means that it is malformed. Only an OPT matters.
func (q *query) readAdditional(msg []byte, at int) int {
	name := at
	at = nameEnd(msg, at)
	if at == 0 || at+10 > len(msg) {
		return 0
	}
	rtype := binary.BigEndian.Uint16(msg[at:])
	class := binary.BigEndian.Uint16(msg[at+2:])
	ttl := binary.BigEndian.Uint32(msg[at+4:])
	end := at + 10 + int(binary.BigEndian.Uint16(msg[at+8:]))
	if end > len(msg) {
		return 0
	}
	if rtype != dns.TypeOPT {
		return end
	}
	if q.edns || msg[name] != 0 { // a second OPT, or one that isn't the root's (RFC 6891 section 6.1.1)
		return 0
	}
	q.edns, q.version, q.do = true, uint8(ttl>>16), ttl&(1<<15) != 0
	q.size = max(class, dns.MinMsgSize)
	return end
}

// plainNameEnd returns where a name in wire form without compression ends; 0 means that it is none.
func plainNameEnd(msg []byte, at int) int {
	start := at
	for at < len(msg) {
		n := int(msg[at])
		at++
		if n == 0 {
			if at-start > 255 {
				return 0
			}
			return at
		}
		if n > 63 {
			return 0
		}
		at += n
	}
	return 0
}

// nameEnd returns where a name that may end in a compression pointer ends; 0 means that it doesn't.
func nameEnd(msg []byte, at int) int {
	for at < len(msg) {
		n := int(msg[at])
		switch {
		case n == 0:
			return at + 1
		case n&0xc0 == 0xc0:
			if at+2 > len(msg) {
				return 0
			}
			return at + 2
		case n > 63:
			return 0
		}
		at += 1 + n
	}
	return 0
}
