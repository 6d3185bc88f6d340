package dnsproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"lnk/policy"
)

var world = script(
	"allowed.test. 60 IN A 203.0.113.10",
	"allowed.test. 60 IN A 203.0.113.11",
	"allowed.test. 60 IN AAAA 2001:db8::10",
	`allowed.test. 60 IN TXT "hello"`,
	"allowed.test. 60 IN MX 10 mail.allowed.test.",
	`allowed.test. 60 IN TYPE65280 \# 3 abcdef`,
	`allowed.test. 60 IN HTTPS 1 . alpn="h2,h3" ech="AEX+DQBB" ipv4hint="203.0.113.12" ipv6hint="2001:db8::12"`,
	"_pg._tcp.allowed.test. 60 IN SRV 0 0 5432 db.allowed.test.",
	"alias.test. 60 IN CNAME middle.evil.test.",
	"middle.evil.test. 60 IN CNAME end.evil.test.",
	"end.evil.test. 60 IN A 203.0.113.66",
	"dangling.test. 60 IN CNAME nowhere.test.",
	"deep.wild.test. 60 IN A 203.0.113.20",
	"fresh.test. 0 IN A 203.0.113.30",
)

func TestAnswers(t *testing.T) {
	type query struct {
		name  string
		qtype uint16
	}
	const denied = "dns %s refused (its name is not an allowed endpoint)"
	tests := map[string]struct {
		ask      []query
		want     []string // the answers in short; «4» and «6» are refusal addresses
		upstream []string
		lines    []string
		watched  []string
	}{
		"an allowed name's A, AAAA and HTTPS are passed on, without ech and h3, and are one line": {
			ask: []query{{"allowed.test", dns.TypeA}, {"allowed.test", dns.TypeAAAA}, {"allowed.test", dns.TypeHTTPS}},
			want: []string{"NOERROR, A 203.0.113.10, A 203.0.113.11", "NOERROR, AAAA 2001:db8::10",
				`NOERROR, HTTPS 1 . alpn="h2" ipv4hint="203.0.113.12" ipv6hint="2001:db8::12"`},
			upstream: []string{"allowed.test. A", "allowed.test. AAAA", "allowed.test. HTTPS"},
			lines:    []string{"dns allowed.test allowed"},
		},
		"every record type of an allowed name is passed on": {
			ask:      []query{{"allowed.test", dns.TypeTXT}, {"allowed.test", dns.TypeMX}, {"allowed.test", 65280}},
			want:     []string{`NOERROR, TXT "hello"`, "NOERROR, MX 10 mail.allowed.test.", `NOERROR, TYPE65280 \# 3 abcdef`},
			upstream: []string{"allowed.test. TXT", "allowed.test. MX", "allowed.test. "},
			lines:    []string{"dns allowed.test allowed"},
		},
		"an answer within its TTL is asked once": {
			ask:      []query{{"allowed.test", dns.TypeA}, {"ALLOWED.test", dns.TypeA}},
			want:     []string{"NOERROR, A 203.0.113.10, A 203.0.113.11", "NOERROR, A 203.0.113.10, A 203.0.113.11"},
			upstream: []string{"allowed.test. A"},
			lines:    []string{"dns allowed.test allowed"},
		},
		"an answer with a TTL of 0 is asked each time": {
			ask:      []query{{"fresh.test", dns.TypeA}, {"fresh.test", dns.TypeA}},
			want:     []string{"NOERROR, A 203.0.113.30", "NOERROR, A 203.0.113.30"},
			upstream: []string{"fresh.test. A", "fresh.test. A"},
			lines:    []string{"dns fresh.test allowed"},
		},
		"no data and no such name are answers": {
			ask:      []query{{"allowed.test", dns.TypeCAA}, {"gone.wild.test", dns.TypeA}},
			want:     []string{"NOERROR", "NXDOMAIN"},
			upstream: []string{"allowed.test. CAA", "gone.wild.test. A"},
			lines:    []string{"dns allowed.test allowed", "dns gone.wild.test allowed"},
		},
		"a chain that leads out of an allowed name is followed": {
			ask:      []query{{"alias.test", dns.TypeA}},
			want:     []string{"NOERROR, CNAME middle.evil.test., CNAME end.evil.test., A 203.0.113.66"},
			upstream: []string{"alias.test. A"},
			lines:    []string{"dns alias.test allowed"},
		},
		"a refused name gets its refusal addresses, nothing else, and one line": {
			ask: []query{{"x.evil.test", dns.TypeA}, {"x.evil.test", dns.TypeAAAA}, {"x.evil.test", dns.TypeHTTPS}, {"x.evil.test", dns.TypeTXT},
				{"x.evil.test", dns.TypeMX}, {"x.evil.test", dns.TypeNS}, {"x.evil.test", dns.TypeAXFR}},
			want:    []string{"NOERROR, A «4»", "NOERROR, AAAA «6»", "NOERROR", "NOERROR", "NOERROR", "NOERROR", "NOERROR"},
			lines:   []string{fmt.Sprintf(denied, "x.evil.test")},
			watched: []string{"x.evil.test"},
		},
		"ANY of a refused name is one record": {
			ask:     []query{{"x.evil.test", dns.TypeANY}},
			want:    []string{"NOERROR, A «4»"},
			lines:   []string{fmt.Sprintf(denied, "x.evil.test")},
			watched: []string{"x.evil.test"},
		},
		"an allowed name below a refused one, and a refused one below an allowed one, are refused": {
			ask:  []query{{"allowed.test.evil.test", dns.TypeA}, {"sub.allowed.test", dns.TypeA}, {"notallowed.test", dns.TypeA}, {"wild.test", dns.TypeA}},
			want: []string{"NOERROR, A «4»", "NOERROR, A «4»", "NOERROR, A «4»", "NOERROR, A «4»"},
			lines: []string{fmt.Sprintf(denied, "allowed.test.evil.test"), fmt.Sprintf(denied, "sub.allowed.test"),
				fmt.Sprintf(denied, "notallowed.test"), fmt.Sprintf(denied, "wild.test")},
			watched: []string{"allowed.test.evil.test", "sub.allowed.test", "notallowed.test", "wild.test"},
		},
		"a name below an allowed wildcard is asked": {
			ask:      []query{{"deep.wild.test", dns.TypeA}},
			want:     []string{"NOERROR, A 203.0.113.20"},
			upstream: []string{"deep.wild.test. A"},
			lines:    []string{"dns deep.wild.test allowed"},
		},
		"a name that can't be one is refused as malformed": {
			ask:  []query{{`a\.allowed.test`, dns.TypeA}, {`a\032b.wild.test`, dns.TypeA}, {"*.wild.test", dns.TypeA}, {`\200.wild.test`, dns.TypeA}},
			want: []string{"NXDOMAIN", "NXDOMAIN", "NXDOMAIN", "NXDOMAIN"},
		},
		"a number that is written as a name is the address that it spells": {
			ask: []query{{"0xA9FEA9FE", dns.TypeA}, {"2852039166", dns.TypeA}, {"169.254.43518", dns.TypeA}, {"0251.0376.0251.0376", dns.TypeA},
				{"169.254.169.254", dns.TypeA}, {"169.254.169.254", dns.TypeAAAA}, {"203.0.113.66", dns.TypeTXT}},
			want: []string{"NOERROR, A 169.254.169.254", "NOERROR, A 169.254.169.254", "NOERROR, A 169.254.169.254", "NOERROR, A 169.254.169.254",
				"NOERROR, A 169.254.169.254", "NOERROR", "NOERROR"},
		},
		"a metadata service's name is refused, also where a wildcard covers it": {
			ask:     []query{{"metadata.google.internal", dns.TypeA}, {"METADATA.google.internal", dns.TypeAAAA}},
			want:    []string{"NOERROR, A «4»", "NOERROR, AAAA «6»"},
			lines:   []string{"dns metadata.google.internal refused (a cloud's metadata service)"},
			watched: []string{"metadata.google.internal"},
		},
		"the room's own names are known, and nothing else in their zone": {
			ask: []query{{"host.lnk.internal", dns.TypeA}, {"host.docker.internal", dns.TypeA}, {"proxy.lnk.internal", dns.TypeA},
				{"host.lnk.internal", dns.TypeAAAA}, {"other.lnk.internal", dns.TypeA}},
			want: []string{"NOERROR, A 198.18.0.3", "NOERROR, A 198.18.0.3", "NOERROR, A 198.18.0.4", "NOERROR", "NXDOMAIN"},
		},
		"special names are answered as the RFCs say": {
			ask: []query{{"localhost", dns.TypeA}, {"a.localhost", dns.TypeAAAA}, {"x.invalid", dns.TypeA}, {"x.onion", dns.TypeA},
				{"1.0.0.10.in-addr.arpa", dns.TypePTR}, {"ipv4only.arpa", dns.TypeAAAA}, {"ipv4only.arpa", dns.TypeA},
				{"_dns.resolver.arpa", dns.TypeSVCB}, {"use-application-dns.net", dns.TypeA}},
			want: []string{"NOERROR, A 127.0.0.1", "NOERROR, AAAA ::1", "NXDOMAIN", "NXDOMAIN", "NXDOMAIN", "NOERROR",
				"NOERROR, A 192.0.0.170, A 192.0.0.171", "NOERROR", "NXDOMAIN"},
		},
		"the address of an allowed name has that name, any other address's is refused": {
			ask: []query{{"allowed.test", dns.TypeA}, {"10.113.0.203.in-addr.arpa", dns.TypePTR}, {"66.113.0.203.in-addr.arpa", dns.TypePTR},
				{"3.0.18.198.in-addr.arpa", dns.TypePTR}},
			want:     []string{"NOERROR, A 203.0.113.10, A 203.0.113.11", "NOERROR, PTR allowed.test.", "NOERROR", "NOERROR, PTR host.lnk.internal."},
			upstream: []string{"allowed.test. A"},
			lines:    []string{"dns allowed.test allowed", fmt.Sprintf(denied, "66.113.0.203.in-addr.arpa")},
			watched:  []string{"66.113.0.203.in-addr.arpa"},
		},
		"the root and zone transfers are for nobody": {
			ask:     []query{{".", dns.TypeNS}, {"allowed.test", dns.TypeAXFR}, {"allowed.test", dns.TypeIXFR}},
			want:    []string{"REFUSED", "NOTIMP", "NOTIMP"},
			lines:   []string{"dns . refused (its name is not an allowed endpoint)"},
			watched: []string{"."},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			r := newRig(t, world, "allowed.test", "*.wild.test", "alias.test", "fresh.test:22", "*.google.internal:443").serve(t)
			for i, q := range test.ask {
				want := test.want[i]
				if v4, v6 := r.Book.Refusal(name(dropRoot(q.name))); strings.Contains(want, "«") {
					want = strings.NewReplacer("«4»", v4.String(), "«6»", v6.String()).Replace(want)
				}
				if got := said(r.ask(t, q.name, q.qtype)); got != want {
					t.Errorf("%s %s: %s, want %s", q.name, dns.TypeToString[q.qtype], got, want)
				}
			}
			if got := r.up.names(); !slices.Equal(got, test.upstream) {
				t.Errorf("upstream was asked %q, want %q", got, test.upstream)
			}
			if got := r.logged(); test.lines != nil && !slices.Equal(got, test.lines) {
				t.Errorf("lines %q, want %q", got, test.lines)
			}
			if got := r.told(); test.lines != nil && !slices.Equal(got, test.watched) {
				t.Errorf("the watch was told %q, want %q", got, test.watched)
			}
		})
	}
}

// dropRoot gives any name at all for one that none can be made of.
func dropRoot(s string) string {
	if _, err := policy.ParseName(s); err != nil {
		return "none.test"
	}
	return s
}

func TestAMalformedNameIsOneLine(t *testing.T) {
	r := newRig(t, world, "*.wild.test").serve(t)
	r.ask(t, `a\032b.wild.test`, dns.TypeA)
	r.ask(t, `a\032b.wild.test`, dns.TypeAAAA)
	lines := r.logged()
	if len(lines) != 1 || !strings.HasSuffix(lines[0], "refused (malformed)") || len(r.told()) != 1 {
		t.Errorf("lines %q, told %q", lines, r.told())
	}
}

func TestModes(t *testing.T) {
	tests := map[string]struct {
		mode     policy.Mode
		name     string
		qtype    uint16
		asked    bool
		lines    int
		sentence string
	}{
		"mode open looks up anything, without a line":   {mode: policy.ModeOpen, name: "x.evil.test", qtype: dns.TypeTXT, asked: true},
		"mode open looks up the root":                   {mode: policy.ModeOpen, name: ".", qtype: dns.TypeNS, asked: true},
		"mode open looks up an address":                 {mode: policy.ModeOpen, name: "66.113.0.203.in-addr.arpa", qtype: dns.TypePTR, asked: true},
		"mode open asks nobody about private addresses": {mode: policy.ModeOpen, name: "1.1.168.192.in-addr.arpa", qtype: dns.TypePTR},
		"mode open refuses metadata names, with a line": {mode: policy.ModeOpen, name: "metadata.google.internal", qtype: dns.TypeA, lines: 1},
		"mode none looks up nothing":                    {mode: policy.ModeNone, name: "allowed.test", qtype: dns.TypeA, lines: 1},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			r := newRig(t, world).serve(t)
			r.allow(t, test.mode)
			r.ask(t, test.name, test.qtype)
			if got := r.up.count() > 0; got != test.asked {
				t.Errorf("asked %v", r.up.names())
			}
			if got := r.logged(); len(got) != test.lines {
				t.Errorf("lines %q", got)
			}
		})
	}
}

func TestAddressesGoInTheBookUnderTheNameAsked(t *testing.T) {
	r := newRig(t, world, "allowed.test", "alias.test", "_pg._tcp.allowed.test").serve(t)
	for _, q := range []string{"allowed.test", "alias.test"} {
		r.ask(t, q, dns.TypeA)
	}
	r.ask(t, "ALLOWED.test", dns.TypeAAAA)
	r.ask(t, "allowed.test", dns.TypeHTTPS)
	want := map[string]string{
		"203.0.113.10": "allowed.test", "203.0.113.11": "allowed.test", "2001:db8::10": "allowed.test", // the answers
		"203.0.113.12": "allowed.test", "2001:db8::12": "allowed.test", // the hints
		"203.0.113.66": "alias.test", // the end of the chain
	}
	for a, n := range want {
		if got := r.Book.Names(addr(a)); !slices.Equal(got, []policy.Name{name(n)}) {
			t.Errorf("%s has the names %v, want %s", a, got, n)
		}
	}
}

func TestWhatTheBookDroppedIsLearntAgain(t *testing.T) {
	r := newRig(t, world, "allowed.test").serve(t)
	r.Book.max = 2
	r.ask(t, "allowed.test", dns.TypeA)
	r.Book.Learn(name("b.test"), addr("203.0.113.201"), addr("203.0.113.202"))
	if r.Book.Names(addr("203.0.113.10")) != nil {
		t.Fatal("nothing was dropped")
	}
	r.ask(t, "allowed.test", dns.TypeA) // from the cache
	if r.Book.Names(addr("203.0.113.10")) == nil {
		t.Error("a cached answer was given out without being in the book")
	}
}

func TestRulesThatChange(t *testing.T) {
	r := newRig(t, world, "allowed.test").serve(t)
	r.ask(t, "allowed.test", dns.TypeA)
	r.allow(t, policy.ModeEndpoints, "fresh.test")
	v4, _ := r.Book.Refusal(name("allowed.test"))
	if got := said(r.ask(t, "allowed.test", dns.TypeA)); got != "NOERROR, A "+v4.String() {
		t.Errorf("a cached answer to a name that is no longer allowed: %s", got)
	}
	r.allow(t, policy.ModeEndpoints, "allowed.test")
	if got := said(r.ask(t, "allowed.test", dns.TypeA)); got != "NOERROR, A 203.0.113.10, A 203.0.113.11" {
		t.Errorf("allowed again: %s", got)
	}
}

func TestMessagesThatAreNoQueries(t *testing.T) {
	r := newRig(t, world, "allowed.test").serve(t)
	for _, network := range []string{"udp", "tcp"} {
		status := question1("allowed.test", dns.TypeA)
		status.Opcode = dns.OpcodeStatus
		two := question1("allowed.test", dns.TypeA)
		two.Question = append(two.Question, two.Question[0])
		chaos := question1("version.bind", dns.TypeTXT)
		chaos.Question[0].Qclass = dns.ClassCHAOS
		for want, m := range map[int]*dns.Msg{dns.RcodeNotImplemented: status, dns.RcodeFormatError: two, dns.RcodeRefused: chaos} {
			if got := r.exchange(t, network, m); got.Rcode != want || got.Opcode != m.Opcode || got.Id != m.Id {
				t.Errorf("%s: %v, want %s", network, got, dns.RcodeToString[want])
			}
		}
	}
	future := question1("allowed.test", dns.TypeA).SetEdns0(1232, false)
	future.IsEdns0().SetVersion(3)
	if got := r.exchange(t, "udp", future); got.Rcode != dns.RcodeBadVers || got.IsEdns0() == nil || got.IsEdns0().Version() != 0 {
		t.Errorf("a later version of EDNS: %v", got)
	}
	if r.up.count() != 0 {
		t.Errorf("upstream was asked %v", r.up.names())
	}
}

func TestTheQuestionIsEchoedAsItWasWritten(t *testing.T) {
	r := newRig(t, world, "allowed.test").serve(t)
	for _, q := range []string{"aLLoWed.TesT.", "ALLOWED.test.", "dEniEd.test."} {
		m := r.exchange(t, "udp", new(dns.Msg).SetQuestion(q, dns.TypeA))
		if m.Question[0].Name != q || m.Answer[0].Header().Name != q {
			t.Errorf("%s: %v", q, m)
		}
	}
	if q := r.up.last(); q.Name != "allowed.test." || r.up.count() != 1 {
		t.Errorf("upstream was asked about %s", q.Name)
	}
}

func TestBits(t *testing.T) {
	validated := func(_ int, q asked) *dns.Msg {
		m := world(0, q)
		m.AuthenticatedData = true
		if o := q.msg.IsEdns0(); o != nil && o.Do() {
			m.Answer = append(m.Answer, mustRR("allowed.test. 60 IN RRSIG A 8 2 60 20300101000000 20200101000000 1 test. AAAA"))
			m.SetEdns0(1232, true)
		}
		return m
	}
	r := newRig(t, validated, "allowed.test", "missing.test").serve(t)
	bare := question1("allowed.test", dns.TypeA)
	if m := r.exchange(t, "udp", bare); m.AuthenticatedData || !m.RecursionAvailable || !m.RecursionDesired || m.IsEdns0() != nil || m.Authoritative {
		t.Errorf("a plain query: %v", m)
	}
	knowing := question1("allowed.test", dns.TypeA)
	knowing.AuthenticatedData, knowing.RecursionDesired = true, false
	if m := r.exchange(t, "udp", knowing); !m.AuthenticatedData || m.RecursionDesired {
		t.Errorf("a query that wants AD: %v", m)
	}
	secure := question1("allowed.test", dns.TypeA).SetEdns0(1232, true)
	if m := r.exchange(t, "udp", secure); !m.AuthenticatedData || len(m.Answer) != 3 || m.IsEdns0() == nil || !m.IsEdns0().Do() {
		t.Errorf("a query that wants signatures: %v", m)
	}
	unchecked := question1("allowed.test", dns.TypeA)
	unchecked.CheckingDisabled = true
	if m := r.exchange(t, "udp", unchecked); !m.CheckingDisabled || !r.up.last().msg.CheckingDisabled {
		t.Errorf("a query that is not to be validated: %v", m)
	}
	r.exchange(t, "udp", question1("missing.test", dns.TypeTXT).SetEdns0(1232, true))
	if m := r.exchange(t, "udp", question1("missing.test", dns.TypeTXT).SetEdns0(1232, true)); m.Rcode != dns.RcodeNameError || len(m.Ns) != 1 {
		t.Errorf("a cached NXDOMAIN: %v", m)
	}
}

func TestHTTPSAnswersThatAreChangedAreNotAuthenticated(t *testing.T) {
	say := func(_ int, q asked) *dns.Msg {
		m := world(0, q)
		m.AuthenticatedData = true
		m.Answer = append(m.Answer, mustRR("allowed.test. 60 IN RRSIG HTTPS 8 2 60 20300101000000 20200101000000 1 test. AAAA"))
		return m
	}
	r := newRig(t, say, "allowed.test").serve(t)
	m := r.exchange(t, "udp", question1("allowed.test", dns.TypeHTTPS).SetEdns0(1232, true))
	if m.AuthenticatedData || len(m.Answer) != 1 {
		t.Errorf("%v", m)
	}
}

func TestAFailureIsPassedOnAndLogged(t *testing.T) {
	r := newRig(t, func(_ int, q asked) *dns.Msg {
		return new(dns.Msg).SetRcode(q.msg, dns.RcodeServerFailure)
	}, "allowed.test").serve(t)
	if got := said(r.ask(t, "allowed.test", dns.TypeA)); got != "SERVFAIL" {
		t.Error(got)
	}
	if got := r.logged(); !slices.Equal(got, []string{"dns allowed.test failed (no answer from the name server)"}) {
		t.Errorf("lines %q", got)
	}
}

func TestNewRefusesAMissingPart(t *testing.T) {
	whole := newRig(t, world).Config
	for part, take := range map[string]func(*Config){
		"Rules":    func(c *Config) { c.Rules = nil },
		"Gate":     func(c *Config) { c.Gate = nil },
		"Book":     func(c *Config) { c.Book = nil },
		"Resolver": func(c *Config) { c.Resolver = nil },
		"Log":      func(c *Config) { c.Log = nil },
		"Watch":    func(c *Config) { c.Watch = nil },
	} {
		c := whole
		take(&c)
		if _, err := New(c); err == nil {
			t.Errorf("made without %s", part)
		}
	}
}

func TestServeOnce(t *testing.T) {
	r := newRig(t, world)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Serve(ctx, nil, nil); err != nil {
		t.Error(err)
	}
	if err := r.Serve(ctx, nil, nil); err == nil {
		t.Error("it served twice")
	}
}

// brokenConn fails to read some times, as a socket does that ICMP errors arrive on.
type brokenConn struct {
	net.PacketConn
	errors int
}

func (c *brokenConn) ReadFrom(b []byte) (int, net.Addr, error) {
	if c.errors > 0 {
		c.errors--
		return 0, nil, errors.New("a passing error")
	}
	return c.PacketConn.ReadFrom(b)
}

func TestASocketThatFailsIsReadAgain(t *testing.T) {
	r := newRig(t, world, "allowed.test")
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.udp = pc.LocalAddr().String()
	r.serveOn(t, []net.PacketConn{&lockedConn{PacketConn: &brokenConn{pc, 3}}}, nil)
	if got := said(r.ask(t, "allowed.test", dns.TypeA)); got != "NOERROR, A 203.0.113.10, A 203.0.113.11" {
		t.Error(got)
	}
}

// lockedConn lets one reader at a time read.
type lockedConn struct {
	net.PacketConn
	mu sync.Mutex
}

func (c *lockedConn) ReadFrom(b []byte) (int, net.Addr, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.PacketConn.ReadFrom(b)
}
