package dnsproxy

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestTheCacheHonoursTTLs(t *testing.T) {
	zone := script("a.test. 100 IN A 203.0.113.1", "a.test. 50 IN A 203.0.113.2", "huge.test. 4294967295 IN A 203.0.113.1",
		"long.test. 2000000 IN A 203.0.113.1", "alias.test. 20 IN CNAME a.test.", "dangling.test. 10 IN CNAME gone.test.")
	tests := map[string]struct {
		name  string
		qtype uint16
		kept  time.Duration // 0: not at all
	}{
		"an answer is kept as long as its shortest record": {"a.test", dns.TypeA, 50 * time.Second},
		"a chain too":                                             {"alias.test", dns.TypeA, 20 * time.Second},
		"a TTL with the highest bit set is none":                  {"huge.test", dns.TypeA, 0},
		"a long TTL is kept for a day":                            {"long.test", dns.TypeA, 24 * time.Hour},
		"no such name is kept as long as the SOA's minimum says":  {"gone.test", dns.TypeA, 30 * time.Second},
		"no data too":                                             {"a.test", dns.TypeMX, 30 * time.Second},
		"a chain that leads nowhere, as long as the first to end": {"dangling.test", dns.TypeMX, 10 * time.Second},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			say := func(i int, q asked) *dns.Msg {
				m := zone(i, q)
				if len(m.Answer) > 0 && m.Answer[len(m.Answer)-1].Header().Rrtype == dns.TypeCNAME {
					m.Ns = []dns.RR{mustRR("test. 60 IN SOA ns.test. root.test. 1 2 3 4 30")}
				}
				return m
			}
			r, ups := newTestResolver(t, "", say)
			now := time.Now()
			r.now = func() time.Time { return now }
			ask1(t, r, test.name, test.qtype)
			if test.kept > 0 {
				now = now.Add(test.kept - time.Second)
				a, err := ask1(t, r, test.name, test.qtype)
				if ups[0].count() != 1 || err != nil {
					t.Fatalf("asked %d times just before it expires, %v", ups[0].count(), err)
				}
				checkAge(t, a, now, test.kept-time.Second)
				now = now.Add(time.Second)
			}
			ask1(t, r, test.name, test.qtype)
			if ups[0].count() != 2 {
				t.Errorf("asked %d times after it expired", ups[0].count())
			}
		})
	}
}

// checkAge checks that the TTLs of an answer are counted down, and none below 0.
func checkAge(t *testing.T, a *answer, now time.Time, age time.Duration) {
	t.Helper()
	q := &query{name: appendWire(nil, a.name), size: 4096}
	m := new(dns.Msg)
	if err := m.Unpack(a.to(q, nil, 4096, now)); err != nil {
		t.Fatal(err)
	}
	was := new(dns.Msg)
	if err := was.Unpack(a.wire); err != nil {
		t.Fatal(err)
	}
	for i, rr := range m.Answer {
		if want := was.Answer[i].Header().Ttl - uint32(age/time.Second); rr.Header().Ttl != want {
			t.Errorf("a TTL of %d, want %d", rr.Header().Ttl, want)
		}
	}
}

func TestFailuresAreNotKept(t *testing.T) {
	good := script("a.test. 60 IN A 203.0.113.1")
	r, _ := newTestResolver(t, "attempts:1", func(i int, q asked) *dns.Msg {
		if i == 1 {
			return new(dns.Msg).SetRcode(q.msg, dns.RcodeServerFailure)
		}
		return good(i, q)
	})
	if a, err := ask1(t, r, "a.test", dns.TypeA); err != nil || a.rcode != dns.RcodeServerFailure {
		t.Fatalf("%v, %v", a, err)
	}
	if a, err := ask1(t, r, "a.test", dns.TypeA); err != nil || addrsText(a.addrs) != "203.0.113.1" {
		t.Errorf("%v, %v", a, err)
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	var c cache
	now := time.Now()
	for i := range 3 * maxCached {
		a := &answer{wire: make([]byte, 500), made: now, expires: now.Add(time.Hour)}
		c.put(fmt.Sprintf("key %d", i), a, now)
		if len(c.answers) > maxCached || c.bytes > maxCachedBytes {
			t.Fatalf("%d answers, %d octets", len(c.answers), c.bytes)
		}
	}
	big := &answer{wire: make([]byte, maxCachedAnswer+1), made: now, expires: now.Add(time.Hour)}
	c.put("big", big, now)
	if c.get([]byte("big"), now) != nil {
		t.Error("an answer over the bound is kept")
	}
	if c.clear(); c.bytes != 0 || len(c.answers) != 0 {
		t.Error("something is left")
	}
}
