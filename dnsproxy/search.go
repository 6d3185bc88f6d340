package dnsproxy

import (
	"context"
	"strings"

	"github.com/miekg/dns"

	"lnk/policy"
)

// search asks about a name as a program on the machine would: a name of fewer dots than resolv.conf's ndots may be a short one, to be completed
// from the search list. Only the name that was asked is judged. What completes it is the machine's own, but never makes a name of it that
// no one is to be asked about.
//
// A single label is completed first. A name with a dot is asked as it is first, whatever ndots says: the rules name it as a whole.
func (r *Resolver) search(ctx context.Context, conf *resolvConf, q question) (*message, error) {
	name := q.name.String()
	short := !q.name.IsZero() && strings.Count(name, ".") < conf.ndots
	if !short || len(conf.search) == 0 {
		return r.consult(ctx, conf, q)
	}
	if q.name.SingleLabel() {
		m, err := r.complete(ctx, conf, q)
		if m != nil && m.answered() {
			return m, nil
		}
		whole, wholeErr := r.consult(ctx, conf, q)
		if wholeErr == nil && whole.answered() {
			return whole, nil
		}
		if m != nil || err != nil {
			return m, err
		}
		return whole, wholeErr
	}
	whole, err := r.consult(ctx, conf, q)
	if err != nil || whole.rcode != dns.RcodeNameError {
		return whole, err
	}
	if m, _ := r.complete(ctx, conf, q); m != nil && m.answered() {
		return m, nil
	}
	return whole, nil
}

// complete asks about the name completed from the search list, and returns the first answer that holds something. Otherwise it is an empty
// answer where a completed name was there without a record of the type, a failure where one couldn't be asked about, and nil.
func (r *Resolver) complete(ctx context.Context, conf *resolvConf, q question) (*message, error) {
	var nothing *message
	var failure error
	for _, domain := range conf.search {
		full, err := policy.ParseName(q.name.String() + "." + domain.String())
		if err != nil || untold(full) {
			continue
		}
		completed := q
		completed.name = full
		m, err := r.consult(ctx, conf, completed)
		if err == nil && m.rcode == dns.RcodeSuccess {
			m, err = renamed(m, q, full)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			failure = err
		case m.answered():
			return m, nil
		case m.rcode == dns.RcodeSuccess:
			nothing = m
		case m.rcode != dns.RcodeNameError:
			failure = errNoServer
		}
	}
	if nothing != nil {
		return nothing, nil
	}
	return nil, failure
}

// renamed makes the answer about a completed name one about the name that was asked: a CNAME leads from one to the other.
func renamed(m *message, q question, full policy.Name) (*message, error) {
	from, to := q.name.String()+".", full.String()+"."
	return m.rewrite(func(parts *dns.Msg) {
		parts.Question = []dns.Question{{Name: from, Qtype: q.qtype, Qclass: dns.ClassINET}}
		parts.AuthenticatedData = false
		if len(parts.Answer) == 0 {
			return
		}
		ttl := parts.Answer[0].Header().Ttl
		alias := &dns.CNAME{Hdr: dns.RR_Header{Name: from, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: ttl}, Target: to}
		parts.Answer = append([]dns.RR{alias}, parts.Answer...)
	})
}

// untold reports whether no one is to be asked about a name: a metadata service's, and those whose answer is fixed.
func untold(n policy.Name) bool {
	_, metadata := policy.MetadataName(n)
	_, fixed := policy.Fixed(n)
	return metadata || fixed
}
