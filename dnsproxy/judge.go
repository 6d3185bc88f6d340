package dnsproxy

import (
	"context"
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

// maxPTR is how many names an address is answered with.
const maxPTR = 8

// reply answers a message at once: the returned message is written in buf where it fits. later means that the machine's resolver has to be
// asked about that name; nothing at all that the message deserves no answer.
func (s *Server) reply(t *turn, msg []byte, q *query, stream bool, buf []byte) (out []byte, later bool, name policy.Name) {
	rcode, drop := parseQuery(msg, q)
	switch {
	case drop:
		return nil, false, name
	case rcode != dns.RcodeSuccess:
		return rcodeReply(buf, q, rcode), false, name
	case q.qclass != dns.ClassINET:
		return rcodeReply(buf, q, dns.RcodeRefused), false, name
	}
	if a := s.cached(t, q); a != nil {
		s.give(a, t.now)
		return a.to(q, buf, q.limit(stream), t.now), false, name
	}
	return s.judge(t, q, buf)
}

// limit is the largest answer that the client takes.
func (q *query) limit(stream bool) int {
	if stream {
		return dns.MaxMsgSize
	}
	return int(q.size)
}

// cached is a fresh answer to an allowed question.
func (s *Server) cached(t *turn, q *query) *answer {
	if !t.gate.Allowed || s.mute() {
		return nil
	}
	var buf [keyMax]byte
	key := appendKey(appendLower(buf[:0], q.name), q.qtype, q.do, q.bits&bitCD != 0)
	a := s.Resolver.cache.get(key, t.now)
	if a == nil || !allowed(t.rules, a.name).Allowed {
		return nil
	}
	return a
}

// allowed judges a name. The root, which carries nothing, may be asked about where everything may.
func allowed(r policy.Rules, n policy.Name) policy.Decision {
	if n.IsZero() {
		return policy.Decision{Allowed: r.Mode() == policy.ModeOpen, Reason: policy.ReasonNameNotAllowed}
	}
	return r.Lookup(n)
}

// mute reports whether lookups are refused because their lines can't be written.
func (s *Server) mute() bool { return s.LogRequired && s.lines.unwrote.Load() }

// judge answers a question that isn't in the cache.
func (s *Server) judge(t *turn, q *query, buf []byte) (out []byte, later bool, name policy.Name) {
	text, plain := dotted(q.name)
	name, ok := nameOf(text, plain)
	if out := s.known(t, q, buf, text, name); out != nil {
		return out, false, name
	}
	if !ok && text != "" {
		s.lines.refused(text, policy.ReasonMalformed, t.now)
		return rcodeReply(buf, q, dns.RcodeNameError), false, name
	}
	if !t.gate.Allowed {
		return s.shut(q, buf, name, t.gate, t.now), false, name
	}
	d := allowed(t.rules, name)
	if d.Allowed && s.mute() {
		d = policy.Decision{Reason: policy.ReasonLogUnwritable}
	}
	switch {
	case !d.Allowed:
		return s.refuse(q, buf, name, d, t.now), false, name
	case notData(q.qtype):
		return rcodeReply(buf, q, dns.RcodeNotImplemented), false, name
	}
	if addrs, ok := t.hosts[name]; ok && ofHosts(q.qtype) {
		return s.fromHosts(t, q, buf, name, addrs), false, name
	}
	return nil, true, name
}

// known answers what needs nobody's leave, since it is told to nobody.
func (s *Server) known(t *turn, q *query, buf []byte, text string, name policy.Name) []byte {
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
	if q.qtype == dns.TypePTR || q.qtype == dns.TypeANY {
		for _, n := range names[:min(len(names), maxPTR)] {
			var wire [255]byte
			r.record(dns.TypePTR, ttlFixed, appendWire(wire[:0], n))
		}
	}
	if len(r.msg)+optLen > int(q.size) {
		return ptrReply(buf, q, names[:1])
	}
	return r.done()
}

// notData reports whether a type isn't one of data: a transfer of a zone, or a record of the protocol's own (RFC 6895 section 3.1).
func notData(qtype uint16) bool {
	return qtype == dns.TypeNone || qtype == dns.TypeOPT || 128 <= qtype && qtype < dns.TypeANY
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
	return addrReply(buf, q, addrs[:min(len(addrs), 16)], ttlShut)
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
	return addrReply(buf, q, addrs[:min(len(addrs), 16)], ttlHosts)
}

// lookUp asks the machine's resolver. It returns nil where there is nobody left to answer.
func (s *Server) lookUp(ctx context.Context, q *query, name policy.Name, stream bool) []byte {
	a, err := s.Resolver.answer(ctx, question{name: name, qtype: q.qtype, do: q.do, cd: q.bits&bitCD != 0})
	now := s.Resolver.now()
	if err == nil {
		s.give(a, now)
		return a.to(q, nil, q.limit(stream), now)
	}
	if d := s.Gate.Check(); !d.Allowed {
		return s.shut(q, nil, name, d, now)
	}
	if ctx.Err() == nil {
		s.logs(line{shown(name), wirelog.Failed, policy.ReasonNoAnswer}, now)
	}
	return rcodeReply(nil, q, dns.RcodeServerFailure)
}

// give notes that the sandbox is given an answer: its addresses are the name's, before the client can call one of them.
func (s *Server) give(a *answer, now time.Time) {
	if known := s.Book.drops() + 1; a.learnt.Load() != known {
		s.Book.Learn(a.name, a.addrs...)
		a.learnt.Store(known)
	}
	at := tick(now)
	if last := a.logged.Load(); last != 0 && at-last < int64(together) || !a.logged.CompareAndSwap(last, at) {
		return
	}
	k := line{shown(a.name), wirelog.Allowed, ""}
	if a.rcode != dns.RcodeSuccess && a.rcode != dns.RcodeNameError {
		k.outcome, k.reason = wirelog.Failed, policy.ReasonNoAnswer
	}
	s.logs(k, now)
}

// logs writes the line of an allowed lookup, where the rules name endpoints: what is open to everyone says little.
func (s *Server) logs(k line, now time.Time) {
	if s.Rules().Mode() == policy.ModeEndpoints {
		s.lines.write(k, now)
	}
}
