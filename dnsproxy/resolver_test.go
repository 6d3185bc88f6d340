package dnsproxy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"lnk/policy"
)

// newTestResolver asks the given servers, each on a loopback address of its own, at one port.
func newTestResolver(t testing.TB, options string, says ...func(int, asked) *dns.Msg) (*Resolver, []*upstream) {
	t.Helper()
	dir := t.TempDir()
	conf := "options " + options + "\n"
	var ups []*upstream
	var port uint16
	for i, say := range says {
		at := fmt.Sprintf("127.0.0.%d", i+1)
		conf += "nameserver " + at + "\n"
		if say == nil { // nobody is there
			continue
		}
		u := &upstream{say: say}
		port = u.start(t, at, port).Port()
		ups = append(ups, u)
	}
	write(t, filepath.Join(dir, "resolv.conf"), conf)
	write(t, filepath.Join(dir, "hosts"), "203.0.113.77 pinned.test\n2001:db8::77 pinned.test\n")
	r := NewResolver(ResolverConfig{ResolvConf: filepath.Join(dir, "resolv.conf"), Hosts: filepath.Join(dir, "hosts")})
	r.port = port
	t.Cleanup(func() { r.Close() })
	return r, ups
}

func silent(int, asked) *dns.Msg { return nil }

func failing(rcode int) func(int, asked) *dns.Msg {
	return func(_ int, q asked) *dns.Msg { return new(dns.Msg).SetRcode(q.msg, rcode) }
}

func ask1(t testing.TB, r *Resolver, text string, qtype uint16) (*answer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return r.answer(ctx, question{name: name(text), qtype: qtype})
}

func addrsText(addrs []netip.Addr) string {
	var all []string
	for _, a := range addrs {
		all = append(all, a.String())
	}
	return strings.Join(all, " ")
}

func TestServers(t *testing.T) {
	one := script("a.test. 60 IN A 203.0.113.1")
	two := script("a.test. 60 IN A 203.0.113.2")
	tests := map[string]struct {
		options string
		servers []func(int, asked) *dns.Msg
		want    string // addresses
		rcode   int
		err     bool
		counts  []int // how often each server was asked; nil: any
	}{
		"the first server is asked":                      {servers: []func(int, asked) *dns.Msg{one, two}, want: "203.0.113.1", counts: []int{1, 0}},
		"a server that fails makes room for the next":    {servers: []func(int, asked) *dns.Msg{failing(dns.RcodeServerFailure), two}, want: "203.0.113.2", counts: []int{1, 1}},
		"so does one that refuses":                       {servers: []func(int, asked) *dns.Msg{failing(dns.RcodeRefused), two}, want: "203.0.113.2"},
		"so does one that isn't there":                   {servers: []func(int, asked) *dns.Msg{one, nil, two}, want: "203.0.113.1"},
		"so does one that says nothing":                  {options: "timeout:30", servers: []func(int, asked) *dns.Msg{silent, two}, want: "203.0.113.2"},
		"no such name is an answer":                      {servers: []func(int, asked) *dns.Msg{script(), two}, rcode: dns.RcodeNameError, counts: []int{1, 0}},
		"if all fail, what one said is the answer":       {options: "attempts:1", servers: []func(int, asked) *dns.Msg{failing(dns.RcodeRefused), failing(dns.RcodeServerFailure)}, rcode: dns.RcodeServerFailure},
		"a server is asked as often as attempts says":    {options: "attempts:3", servers: []func(int, asked) *dns.Msg{failing(dns.RcodeServerFailure)}, rcode: dns.RcodeServerFailure, counts: []int{3}},
		"a question that was lost is asked again":        {options: "timeout:30", servers: []func(int, asked) *dns.Msg{lost(1, one)}, want: "203.0.113.1", counts: []int{2}},
		"if none says a thing, there is no answer":       {options: "timeout:1 attempts:1", servers: []func(int, asked) *dns.Msg{silent}, err: true, counts: []int{1}},
		"a server that doesn't know EDNS is asked plain": {servers: []func(int, asked) *dns.Msg{noEDNS(one)}, want: "203.0.113.1", counts: []int{2}},
		"use-vc asks over TCP":                           {options: "use-vc", servers: []func(int, asked) *dns.Msg{onlyTCP(one)}, want: "203.0.113.1", counts: []int{1}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			r, ups := newTestResolver(t, test.options, test.servers...)
			a, err := ask1(t, r, "a.test", dns.TypeA)
			if (err != nil) != test.err {
				t.Fatal(err)
			}
			if err == nil && (addrsText(a.addrs) != test.want || a.rcode != test.rcode) {
				t.Errorf("%v, %s", a.addrs, dns.RcodeToString[a.rcode])
			}
			for i, n := range test.counts {
				if ups[i].count() != n {
					t.Errorf("server %d was asked %d times, want %d", i+1, ups[i].count(), n)
				}
			}
		})
	}
}

func lost(n int, say func(int, asked) *dns.Msg) func(int, asked) *dns.Msg {
	return func(i int, q asked) *dns.Msg {
		if i <= n {
			return nil
		}
		return say(i, q)
	}
}

func noEDNS(say func(int, asked) *dns.Msg) func(int, asked) *dns.Msg {
	return func(i int, q asked) *dns.Msg {
		if q.msg.IsEdns0() != nil {
			m := new(dns.Msg).SetRcode(q.msg, dns.RcodeFormatError)
			m.Question = nil
			return m
		}
		return say(i, q)
	}
}

func onlyTCP(say func(int, asked) *dns.Msg) func(int, asked) *dns.Msg {
	return func(i int, q asked) *dns.Msg {
		if !q.tcp {
			return new(dns.Msg).SetRcode(q.msg, dns.RcodeNameError)
		}
		return say(i, q)
	}
}

func TestAServerThatDidNotAnswerComesLast(t *testing.T) {
	r, ups := newTestResolver(t, "timeout:30", silent, script("a.test. 60 IN A 203.0.113.2", "b.test. 60 IN A 203.0.113.2"))
	for _, n := range []string{"a.test", "b.test"} {
		if _, err := ask1(t, r, n, dns.TypeA); err != nil {
			t.Fatal(err)
		}
	}
	if ups[0].count() != 1 {
		t.Errorf("it was asked %d times", ups[0].count())
	}
}

func TestRotate(t *testing.T) {
	say := func(_ int, q asked) *dns.Msg { return new(dns.Msg).SetRcode(q.msg, dns.RcodeNameError) }
	r, ups := newTestResolver(t, "rotate", say, say)
	for i := range 4 {
		ask1(t, r, fmt.Sprintf("n%d.test", i), dns.TypeA)
	}
	if ups[0].count() != 2 || ups[1].count() != 2 {
		t.Errorf("asked %d and %d times", ups[0].count(), ups[1].count())
	}
}

// manyAddrs are the records of a name that don't fit a datagram of 1,232 octets.
func manyAddrs(n string, count int) (records []string) {
	for i := range count {
		records = append(records, fmt.Sprintf("%s 60 IN A 203.0.%d.%d", n, 113+i/250, i%250))
	}
	return records
}

func TestAnAnswerThatDoesNotFitIsAskedOverTCP(t *testing.T) {
	r, ups := newTestResolver(t, "", script(manyAddrs("big.test.", 300)...))
	a, err := ask1(t, r, "big.test", dns.TypeA)
	if err != nil || len(a.addrs) != 300 {
		t.Fatalf("%v, %v", a, err)
	}
	if ups[0].count() != 2 || !ups[0].last().tcp {
		t.Errorf("asked %d times, the last time over TCP: %v", ups[0].count(), ups[0].last().tcp)
	}
}

// TestForgedAnswers has a server that sends what an attacker might before the true answer.
func TestForgedAnswers(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	defer done.Wait()
	defer pc.Close()
	ports := make(map[string]bool)
	ids := make(map[uint16]bool)
	done.Go(func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			q := new(dns.Msg)
			if q.Unpack(buf[:n]) != nil {
				return
			}
			ports[from.String()], ids[q.Id] = true, true
			send := func(change func(*dns.Msg), record string) {
				m := new(dns.Msg).SetReply(q)
				m.Answer = append(m.Answer, mustRR(record))
				change(m)
				b, _ := m.Pack()
				pc.WriteTo(b, from)
			}
			forged := "a.test. 60 IN A 203.0.113.66"
			pc.WriteTo([]byte("x"), from)
			send(func(m *dns.Msg) { m.Id++ }, forged)
			send(func(m *dns.Msg) { m.Response = false }, forged)
			send(func(m *dns.Msg) { m.Question[0].Name = "b.test." }, forged)
			send(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAAAA }, forged)
			send(func(m *dns.Msg) { m.Question = nil }, forged)
			send(func(m *dns.Msg) { m.Opcode = dns.OpcodeNotify }, forged)
			send(func(m *dns.Msg) { m.Question[0].Name = "A.TEST." }, "a.test. 0 IN A 203.0.113.1")
		}
	})
	r, _ := newTestResolver(t, "", nil)
	r.port = uint16(pc.LocalAddr().(*net.UDPAddr).Port)
	for range socketUses + 10 {
		a, err := ask1(t, r, "a.test", dns.TypeA)
		if err != nil || addrsText(a.addrs) != "203.0.113.1" {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	pc.Close()
	done.Wait()
	if len(ports) < 2 {
		t.Error("one port was used for more questions than it should be")
	}
	if len(ids) < socketUses {
		t.Errorf("%d ids for %d questions", len(ids), socketUses+10)
	}
}

func TestAServerThatForgesOnlyIsGivenUp(t *testing.T) {
	r, _ := newTestResolver(t, "attempts:1 timeout:30", func(_ int, q asked) *dns.Msg {
		return nil
	})
	forger, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	defer done.Wait()
	defer forger.Close()
	done.Go(func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := forger.ReadFrom(buf)
			if err != nil {
				return
			}
			buf[0]++
			buf[2] |= 0x80
			for range forgeries {
				forger.WriteTo(buf[:n], from)
			}
		}
	})
	r.port = uint16(forger.LocalAddr().(*net.UDPAddr).Port)
	if _, err := ask1(t, r, "a.test", dns.TypeA); !errors.Is(err, errForged) {
		t.Errorf("%v", err)
	}
}

func TestEqualQuestionsAreAskedOnce(t *testing.T) {
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	defer release()
	var asking atomic.Int32
	r, ups := newTestResolver(t, "timeout:30", func(_ int, q asked) *dns.Msg {
		asking.Add(1)
		<-held
		return script("a.test. 0 IN A 203.0.113.1")(0, q)
	})
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if a, err := ask1(t, r, "a.test", dns.TypeA); err != nil || addrsText(a.addrs) != "203.0.113.1" {
				t.Errorf("%v, %v", a, err)
			}
		})
	}
	waitFor(t, func() bool { return asking.Load() > 0 })
	release()
	all.Wait()
	if n := ups[0].count(); n > 50 { // some came after the first answer, which isn't kept
		t.Errorf("asked %d times", n)
	}
}

// waitFor waits until something holds that another goroutine brings about.
func waitFor(t testing.TB, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it never came to hold")
		}
	}
}

func TestWhoGivesUpLeavesTheOthersTheirAnswer(t *testing.T) {
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	defer release()
	r, ups := newTestResolver(t, "timeout:30", func(_ int, q asked) *dns.Msg {
		<-held
		return script("a.test. 60 IN A 203.0.113.1")(0, q)
	})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := r.answer(ctx, question{name: name("a.test"), qtype: dns.TypeA}); !errors.Is(err, context.Canceled) {
			t.Errorf("the first: %v", err)
		}
	})
	waitFor(t, func() bool { return ups[0].count() > 0 })
	all.Go(func() {
		if a, err := ask1(t, r, "a.test", dns.TypeA); err != nil || addrsText(a.addrs) != "203.0.113.1" {
			t.Errorf("the second: %v, %v", a, err)
		}
	})
	before := ups[0].count()
	cancel()
	waitFor(t, func() bool { return ups[0].count() > before })
	release()
	all.Wait()
}

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

func TestTheFilesAreFollowed(t *testing.T) {
	r, _ := newTestResolver(t, "", script("a.test. 60 IN A 203.0.113.1", "b.test. 60 IN A 203.0.113.1"))
	other := &upstream{say: script("a.test. 60 IN A 203.0.113.2")}
	other.start(t, "127.0.0.9", r.port)
	now := time.Now()
	r.now = func() time.Time { return now }
	look := func(want string) {
		t.Helper()
		now = now.Add(lookEvery)
		addrs, err := r.Resolve(t.Context(), name("a.test"))
		if err != nil || addrsText(addrs) != want {
			t.Errorf("%v, %v; want %s", addrs, err, want)
		}
	}
	look("203.0.113.1")
	write(t, r.conf.path, "nameserver 127.0.0.9\n")
	look("203.0.113.2")
	write(t, r.hosts.path, "203.0.113.3 a.test\n")
	look("203.0.113.3")
	write(t, r.hosts.path, "203.0.113.4 a.test\n") // the same size and, as likely as not, the same time
	look("203.0.113.4")
	if err := os.Remove(r.hosts.path); err != nil {
		t.Fatal(err)
	}
	look("203.0.113.2")
	if err := os.Symlink("elsewhere", r.hosts.path); err != nil {
		t.Fatal(err)
	}
	look("203.0.113.2")
	write(t, filepath.Join(filepath.Dir(r.hosts.path), "elsewhere"), "203.0.113.5 a.test\n")
	look("203.0.113.5")
}

func TestAFileThatIsNoFileIsNotRead(t *testing.T) {
	r, _ := newTestResolver(t, "", script("a.test. 60 IN A 203.0.113.1"))
	os.Remove(r.hosts.path)
	if err := os.Mkdir(r.hosts.path, 0o700); err != nil {
		t.Fatal(err)
	}
	if a, err := r.Resolve(t.Context(), name("a.test")); err != nil || addrsText(a) != "203.0.113.1" {
		t.Errorf("%v, %v", a, err)
	}
}

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

func TestSearch(t *testing.T) {
	zone := script("db.corp.test. 60 IN A 203.0.113.5", "web.lab.test. 60 IN A 203.0.113.6", "top. 60 IN A 203.0.113.7",
		"svc.ns.corp.test. 60 IN A 203.0.113.8", "v4only.corp.test. 60 IN A 203.0.113.9", "full.test. 60 IN A 203.0.113.10",
		"metadata.google.internal. 60 IN A 169.254.169.254")
	tests := map[string]struct {
		options string
		name    string
		qtype   uint16
		want    string
		asked   []string
	}{
		"a single label is completed from the search list": {name: "db", qtype: dns.TypeA,
			want: "NOERROR, CNAME db.corp.test., A 203.0.113.5", asked: []string{"db.corp.test. A"}},
		"domain by domain": {name: "web", qtype: dns.TypeA,
			want: "NOERROR, CNAME web.lab.test., A 203.0.113.6", asked: []string{"web.corp.test. A", "web.lab.test. A"}},
		"and asked as it is at last": {name: "top", qtype: dns.TypeA,
			want: "NOERROR, A 203.0.113.7", asked: []string{"top.corp.test. A", "top.lab.test. A", "top. A"}},
		"one that is there without such a record has none": {name: "v4only", qtype: dns.TypeAAAA,
			want: "NOERROR", asked: []string{"v4only.corp.test. AAAA", "v4only.lab.test. AAAA", "v4only. AAAA"}},
		"one that is nowhere isn't there": {name: "gone", qtype: dns.TypeA,
			want: "NXDOMAIN", asked: []string{"gone.corp.test. A", "gone.lab.test. A", "gone. A"}},
		"a name with a dot is asked as it is": {name: "svc.ns", qtype: dns.TypeA,
			want: "NXDOMAIN", asked: []string{"svc.ns. A"}},
		"and completed if it isn't there and has fewer dots than ndots": {options: "ndots:2", name: "svc.ns", qtype: dns.TypeA,
			want: "NOERROR, CNAME svc.ns.corp.test., A 203.0.113.8", asked: []string{"svc.ns. A", "svc.ns.corp.test. A"}},
		"one that is there isn't completed, whatever ndots says": {options: "ndots:5", name: "full.test", qtype: dns.TypeA,
			want: "NOERROR, A 203.0.113.10", asked: []string{"full.test. A"}},
		"ndots of 0 completes nothing": {options: "ndots:0", name: "db", qtype: dns.TypeA, want: "NXDOMAIN", asked: []string{"db. A"}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			r := newRig(t, zone, test.name).serve(t)
			write(t, r.resolvConf, "nameserver 127.0.0.1\nsearch corp.test lab.test google.internal\noptions "+test.options+"\n")
			m := r.ask(t, test.name, test.qtype)
			if got := said(m); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			asked := slices.DeleteFunc(r.up.names(), func(s string) bool { return strings.Contains(s, "google.internal") })
			if !slices.Equal(asked, test.asked) {
				t.Errorf("asked %q, want %q", asked, test.asked)
			}
			if len(m.Answer) > 0 && len(r.Book.Addrs(name(test.name))) == 0 {
				t.Error("its address isn't in the book under the name that was asked")
			}
		})
	}
}

func TestTheSearchListMakesNoMetadataName(t *testing.T) {
	r := newRig(t, script("metadata.google.internal. 60 IN A 169.254.169.254"), "instance-data").serve(t)
	write(t, r.resolvConf, "nameserver 127.0.0.1\nsearch ec2.internal\n")
	r.ask(t, "instance-data", dns.TypeA)
	for _, n := range r.up.names() {
		if strings.HasPrefix(n, "instance-data.ec2.internal") {
			t.Errorf("asked %s", n)
		}
	}
}

func TestHostsAnswerAllowedNames(t *testing.T) {
	r := newRig(t, world, "allowed.test", "pinned.test").serve(t)
	write(t, r.hosts, "203.0.113.77 Pinned.test other.test\n2001:db8::77\tpinned.test # here\nnonsense\n")
	tests := map[string]struct {
		name  string
		qtype uint16
		want  string
	}{
		"an allowed name's address":               {"pinned.test", dns.TypeA, "NOERROR, A 203.0.113.77"},
		"of the other family":                     {"pinned.test", dns.TypeAAAA, "NOERROR, AAAA 2001:db8::77"},
		"and nothing that would lead past them":   {"pinned.test", dns.TypeHTTPS, "NOERROR"},
		"what isn't an address is asked":          {"pinned.test", dns.TypeTXT, "NXDOMAIN"},
		"a name that isn't allowed stays refused": {"other.test", dns.TypeTXT, "NOERROR"},
	}
	for sentence, test := range tests {
		if got := said(r.ask(t, test.name, test.qtype)); got != test.want {
			t.Errorf("%s: %s, want %s", sentence, got, test.want)
		}
	}
	if got := r.up.names(); !slices.Equal(got, []string{"pinned.test. TXT"}) {
		t.Errorf("asked %q", got)
	}
	if got := r.Book.Names(addr("203.0.113.77")); !slices.Equal(got, []policy.Name{name("pinned.test")}) {
		t.Errorf("the book has %v", got)
	}
}

func TestParseResolvConf(t *testing.T) {
	tests := map[string]struct {
		text string
		want string
	}{
		"no file":                       {"", "[127.0.0.1] [] 1 5s 2 false false"},
		"comments and other keywords":   {"# nameserver 192.0.2.9\n;x\nsortlist 1.2.3.4\nnameserver\n", "[127.0.0.1] [] 1 5s 2 false false"},
		"servers, three at most":        {"nameserver 192.0.2.1\nnameserver ::ffff:192.0.2.2\nnameserver fe80::1%eth0\nnameserver 192.0.2.4\n", "[192.0.2.1 192.0.2.2 fe80::1%eth0] [] 1 5s 2 false false"},
		"the last of domain and search": {"search a.test b.test.\ndomain c.test\n", "[127.0.0.1] [c.test] 1 5s 2 false false"},
		"a search list":                 {"domain c.test\nsearch A.test . b.test.\n", "[127.0.0.1] [a.test b.test] 1 5s 2 false false"},
		"options":                       {"options ndots:5 timeout:2 attempts:3 rotate use-vc edns0 trust-ad\n", "[127.0.0.1] [] 5 2s 3 true true"},
		"options out of bounds":         {"options ndots:99 timeout:999 attempts:99\noptions ndots:x timeout: attempts:-1", "[127.0.0.1] [] 15 30s 5 false false"},
		"no time and no attempts":       {"options timeout:0 attempts:0", "[127.0.0.1] [] 1 1s 1 false false"},
	}
	for sentence, test := range tests {
		c := parseResolvConf([]byte(test.text))
		if got := fmt.Sprint(c.servers, c.search, c.ndots, c.timeout, c.attempts, c.rotate, c.tcp); got != test.want {
			t.Errorf("%s: %s, want %s", sentence, got, test.want)
		}
	}
}

// TestOverTCP has a server that answers over TCP in ways that it shouldn't.
func TestOverTCP(t *testing.T) {
	tests := map[string]func(net.Conn, *dns.Msg){
		"closes at once":         func(c net.Conn, _ *dns.Msg) {},
		"answers another id":     func(c net.Conn, q *dns.Msg) { q.Id++; writeFramed(c, new(dns.Msg).SetReply(q)) },
		"answers half a message": func(c net.Conn, _ *dns.Msg) { c.Write([]byte{1, 0, 0, 0}) },
		"answers no message":     func(c net.Conn, _ *dns.Msg) { c.Write([]byte{0, 0}) },
	}
	for sentence, serve := range tests {
		t.Run(sentence, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var done sync.WaitGroup
			defer done.Wait()
			defer l.Close()
			done.Go(func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					var length [2]byte
					io.ReadFull(c, length[:])
					msg := make([]byte, binary.BigEndian.Uint16(length[:]))
					io.ReadFull(c, msg)
					q := new(dns.Msg)
					q.Unpack(msg)
					serve(c, q)
					c.Close()
				}
			})
			r, _ := newTestResolver(t, "use-vc attempts:1", nil)
			r.port = uint16(l.Addr().(*net.TCPAddr).Port)
			if _, err := ask1(t, r, "a.test", dns.TypeA); err == nil {
				t.Error("it was taken for an answer")
			}
		})
	}
}

func writeFramed(c net.Conn, m *dns.Msg) {
	b, _ := m.Pack()
	c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...))
}
