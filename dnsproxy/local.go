package dnsproxy

import (
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"lnk/policy"
	"lnk/wirelog"
)

// TTLs, in seconds. That of a refusal is short, since the rules can change; one that the gate makes is nobody's to keep.
const (
	ttlRefused = 2
	ttlShut    = 0
	ttlFixed   = 60
	ttlHosts   = 2 // the file can change
)

// known answers what needs nobody's leave, since it is told to nobody.
func (s *Server) known(q *query, buf []byte, text string, name policy.Name) []byte {
	if name.IsZero() {
		return spelled(q, buf, text)
	}
	if a, ok := reverseAddr(text); ok {
		if names := s.namesOf(a); len(names) > 0 {
			return ptrReply(buf, q, names)
		}
	}
	fixed, ok := fixedAnswer(name)
	switch {
	case !ok:
		return nil
	case fixed.NoSuchName:
		return rcodeReply(buf, q, dns.RcodeNameError)
	}
	return addrReply(buf, q, fixed.Addrs, ttlFixed)
}

// spelled answers a number that is written as a name (0x7f000001, 2130706433) with the address that it spells: some clients leave that to their
// own code, some to the resolver. So the call that follows is judged by that address.
func spelled(q *query, buf []byte, text string) []byte {
	if h, err := policy.ParseHost(text); err == nil {
		if a, ok := h.Addr(); ok {
			return addrReply(buf, q, []netip.Addr{a}, ttlFixed)
		}
	}
	return nil
}

// namesOf are the names of an address that this sandbox knows.
func (s *Server) namesOf(a netip.Addr) []policy.Name {
	switch a {
	case policy.MachineAddr:
		return []policy.Name{policy.MachineName}
	case policy.ProxyAddr:
		return []policy.Name{policy.ProxyName}
	}
	return s.Book.Names(a)
}

// ptrReply answers with names.
func ptrReply(buf []byte, q *query, names []policy.Name) []byte {
	r := newReply(buf, q)
	if q.qtype != dns.TypePTR && q.qtype != dns.TypeANY {
		return r.done()
	}
	for _, n := range names {
		var room [255]byte
		wire := appendWire(room[:0], n)
		if !r.fits(len(wire)) {
			break
		}
		r.record(dns.TypePTR, ttlFixed, wire)
	}
	return r.done()
}

// malformed answers a question about what can't be a name, and so can't stand for an address either.
func (s *Server) malformed(t *turn, q *query, buf []byte, text string) []byte {
	if t.gate.Allowed {
		s.lines.refused(text, policy.ReasonMalformed, t.now)
	} else {
		s.lines.shut(text, t.gate.Reason, t.now)
	}
	return rcodeReply(buf, q, dns.RcodeNameError)
}

// refuse answers a question about a name that the rules refuse: no record, but for the address that stands for the name.
func (s *Server) refuse(q *query, buf []byte, name policy.Name, d policy.Decision, now time.Time) []byte {
	s.lines.refused(shown(name), d.Reason, now)
	if name.IsZero() {
		return rcodeReply(buf, q, dns.RcodeRefused)
	}
	v4, v6 := s.Book.Refusal(name)
	return addrReply(buf, q, []netip.Addr{v4, v6}, ttlRefused)
}

// shut answers while the gate is closed: with what the book holds, so that the call that follows is refused in words under its name.
func (s *Server) shut(q *query, buf []byte, name policy.Name, d policy.Decision, now time.Time) []byte {
	s.lines.shut(shown(name), d.Reason, now)
	if name.IsZero() {
		return rcodeReply(buf, q, dns.RcodeRefused)
	}
	addrs := s.Book.Addrs(name)
	if len(addrs) == 0 {
		v4, v6 := s.Book.Refusal(name)
		addrs = []netip.Addr{v4, v6}
	}
	return addrReply(buf, q, addrs, ttlShut)
}

// shown is a name as a line has it.
func shown(n policy.Name) string {
	if n.IsZero() {
		return "."
	}
	return n.String()
}

// ofHosts reports whether a question is one that the hosts file answers: about addresses, or about what would lead past them.
func ofHosts(qtype uint16) bool {
	switch qtype {
	case dns.TypeA, dns.TypeAAAA, dns.TypeHTTPS, dns.TypeSVCB, dns.TypeANY:
		return true
	}
	return false
}

func (s *Server) fromHosts(t *turn, q *query, buf []byte, name policy.Name, addrs []netip.Addr) []byte {
	s.Book.Learn(name, addrs...)
	s.logs(line{name.String(), wirelog.Allowed, ""}, t.now)
	return addrReply(buf, q, addrs, ttlHosts)
}
