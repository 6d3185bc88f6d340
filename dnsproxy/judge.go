package dnsproxy

import (
	"context"
	"time"

	"github.com/miekg/dns"

	"lnk/policy"
	"lnk/wirelog"
)

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
	if !t.gate.Allowed {
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

// judge answers a question that isn't in the cache.
func (s *Server) judge(t *turn, q *query, buf []byte) (out []byte, later bool, name policy.Name) {
	text, plain := dotted(q.name)
	name, ok := nameOf(text, plain)
	if out := s.known(q, buf, text, name); out != nil {
		return out, false, name
	}
	if !ok && text != "" {
		return s.malformed(t, q, buf, text), false, name
	}
	if !t.gate.Allowed {
		return s.shut(q, buf, name, t.gate, t.now), false, name
	}
	d := allowed(t.rules, name)
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

// notData reports whether a type isn't one of data: a transfer of a zone, or a record of the protocol's own (RFC 6895 section 3.1).
func notData(qtype uint16) bool {
	return qtype == dns.TypeNone || qtype == dns.TypeOPT || 128 <= qtype && qtype < dns.TypeANY
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
