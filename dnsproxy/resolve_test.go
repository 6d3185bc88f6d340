package dnsproxy

import (
	"context"
	"errors"
	"testing"

	"github.com/miekg/dns"
)

func TestResolve(t *testing.T) {
	zone := script("dual.test. 60 IN A 203.0.113.1", "dual.test. 60 IN A 203.0.113.2", "dual.test. 60 IN AAAA 2001:db8::1",
		"four.test. 60 IN A 203.0.113.4", "text.test. 60 IN TXT hello", "mapped.test. 60 IN AAAA ::ffff:203.0.113.5")
	say := func(i int, q asked) *dns.Msg {
		switch {
		case q.Name == "lame.test." && q.Qtype == dns.TypeA:
			return new(dns.Msg).SetRcode(q.msg, dns.RcodeServerFailure)
		case q.Name == "lame.test.":
			m := new(dns.Msg).SetReply(q.msg)
			m.Answer = append(m.Answer, mustRR("lame.test. 60 IN AAAA 2001:db8::7"))
			return m
		case q.Name == "half.test." && q.Qtype == dns.TypeAAAA, q.Name == "dead.test.":
			return nil
		case q.Name == "half.test.":
			m := new(dns.Msg).SetReply(q.msg)
			m.Answer = append(m.Answer, mustRR("half.test. 60 IN A 203.0.113.8"))
			return m
		case q.Name == "broken.test.":
			return new(dns.Msg).SetRcode(q.msg, dns.RcodeServerFailure)
		}
		return zone(i, q)
	}
	tests := map[string]struct {
		name string
		want string
		kind LookupKind
		none bool // nobody is asked
	}{
		"both families take turns, IPv6 first":             {name: "dual.test", want: "2001:db8::1 203.0.113.1 203.0.113.2"},
		"one family is enough":                             {name: "four.test", want: "203.0.113.4"},
		"a family that fails doesn't fail the other":       {name: "lame.test", want: "2001:db8::7"},
		"a family that says nothing doesn't hold it up":    {name: "half.test", want: "203.0.113.8"},
		"an IPv4 address inside IPv6 is the IPv4 address":  {name: "mapped.test", want: "203.0.113.5"},
		"a name that isn't there":                          {name: "gone.test", kind: NoSuchName},
		"a name without an address":                        {name: "text.test", kind: NoAddress},
		"a name that the server fails on":                  {name: "broken.test", kind: NoAnswer},
		"a name that nothing is said about":                {name: "dead.test", kind: NoAnswer},
		"the hosts file comes first":                       {name: "pinned.test", want: "2001:db8::77 203.0.113.77", none: true},
		"localhost is this machine, without asking":        {name: "localhost", want: "::1 127.0.0.1", none: true},
		"what is below localhost too":                      {name: "a.localhost", want: "::1 127.0.0.1", none: true},
		"the room's names mean nothing here":               {name: "host.lnk.internal", kind: NoSuchName, none: true},
		"nobody is asked about a metadata service":         {name: "metadata.google.internal", kind: NoSuchName, none: true},
		"nobody is asked about a name that is never there": {name: "a.invalid", kind: NoSuchName, none: true},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			r, ups := newTestResolver(t, "timeout:1 attempts:1", say)
			addrs, err := r.Resolve(t.Context(), name(test.name))
			var failed *LookupError
			switch {
			case test.want != "" && (err != nil || addrsText(addrs) != test.want):
				t.Errorf("%v, %v", addrs, err)
			case test.want == "" && (!errors.As(err, &failed) || failed.Kind != test.kind || failed.Name != name(test.name)):
				t.Errorf("%v, %v", addrs, err)
			}
			if test.none && ups[0].count() > 0 {
				t.Errorf("asked %v", ups[0].names())
			}
		})
	}
}

func TestResolveGivesUpWithItsContext(t *testing.T) {
	r, ups := newTestResolver(t, "timeout:30", silent)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := r.Resolve(ctx, name("a.test")); done <- err }()
	waitFor(t, func() bool { return ups[0].count() >= 2 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
