package dnsproxy

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"lnk/policy"
)

func TestSizesOfAnswers(t *testing.T) {
	r := newRig(t, script(manyAddrs("big.test.", 60)...), "big.test").serve(t)
	tests := map[string]struct {
		edns uint16 // 0: none
		tcp  bool
		cut  bool
	}{
		"a client without EDNS takes 512 octets": {cut: true},
		"one that takes more gets more":          {edns: 700, cut: true},
		"one that takes enough gets all":         {edns: 4096},
		"one that says less than 512 takes 512":  {edns: 100, cut: true},
		"TCP has room for all":                   {tcp: true},
	}
	for sentence, test := range tests {
		q := question1("big.test", dns.TypeA)
		if test.edns > 0 {
			q.SetEdns0(test.edns, false)
		}
		network := "udp"
		if test.tcp {
			network = "tcp"
		}
		c := dns.Client{Net: network, UDPSize: 65535, Timeout: 10 * time.Second}
		at := map[string]string{"udp": r.udp, "tcp": r.tcp}[network]
		m, _, err := c.Exchange(q, at)
		if err != nil {
			t.Fatalf("%s: %v", sentence, err)
		}
		m.Compress = true
		if m.Truncated != test.cut || !test.cut && len(m.Answer) != 60 || test.cut && len(m.Answer) == 0 {
			t.Errorf("%s: cut %v, %d records", sentence, m.Truncated, len(m.Answer))
		}
		if limit := max(int(test.edns), 512); !test.tcp && m.Len() > limit {
			t.Errorf("%s: %d octets", sentence, m.Len())
		}
		if (m.IsEdns0() != nil) != (test.edns > 0) {
			t.Errorf("%s: EDNS %v", sentence, m.IsEdns0())
		}
	}
	if n := len(r.Book.Addrs(name("big.test"))); n != 60 {
		t.Errorf("the book has %d of the addresses", n)
	}
}

func TestManyLookupsAtOnce(t *testing.T) {
	const count = 2000
	say := func(_ int, q asked) *dns.Msg {
		m := new(dns.Msg).SetReply(q.msg)
		m.Answer = append(m.Answer, mustRR(q.Name+" 60 IN A 203.0.113.1"))
		return m
	}
	r := newRig(t, say, "*.test").serve(t)
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			n := fmt.Sprintf("n%d.test", i)
			c := dns.Client{Timeout: 30 * time.Second}
			m, _, err := c.Exchange(question1(n, dns.TypeA), r.udp)
			if err != nil || said(m) != "NOERROR, A 203.0.113.1" || m.Question[0].Name != n+"." {
				t.Errorf("%s: %v, %v", n, m, err)
			}
		})
	}
	all.Wait()
	if n := len(r.Book.Names(addr("203.0.113.1"))); n != min(count, maxNamesOfAddr) {
		t.Errorf("the book has %d of the names", n)
	}
}

func TestTwoQueriesOfOneSocketWithOneID(t *testing.T) {
	r := newRig(t, world, "allowed.test", "deep.wild.test").serve(t)
	c, err := net.Dial("udp", r.udp)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	for _, n := range []string{"allowed.test", "deep.wild.test"} {
		q := question1(n, dns.TypeA)
		q.Id = 7
		c.Write(packed(t, q))
	}
	seen := make(map[string]bool)
	for range 2 {
		buf := make([]byte, 512)
		n, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		m := new(dns.Msg)
		m.Unpack(buf[:n])
		seen[m.Question[0].Name] = m.Id == 7
	}
	if !seen["allowed.test."] || !seen["deep.wild.test."] {
		t.Errorf("%v", seen)
	}
}

func TestGarbageAmongQueries(t *testing.T) {
	r := newRig(t, world, "allowed.test").serve(t)
	c, err := net.Dial("udp", r.udp)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	good := packed(t, question1("allowed.test", dns.TypeA))
	for range 2000 {
		b := make([]byte, rand.IntN(600))
		copy(b, good)
		for range rand.IntN(8) {
			if len(b) > 0 {
				b[rand.IntN(len(b))] = byte(rand.Uint32())
			}
		}
		c.Write(b)
	}
	if got := said(r.ask(t, "allowed.test", dns.TypeA)); got != "NOERROR, A 203.0.113.10, A 203.0.113.11" {
		t.Error(got)
	}
	for _, n := range r.up.names() {
		if !strings.HasPrefix(n, "allowed.test. ") {
			t.Errorf("upstream was asked %s", n)
		}
	}
}

func TestAFloodOfLookupsIsBounded(t *testing.T) {
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	r := newRig(t, func(_ int, q asked) *dns.Msg {
		<-held
		return nil
	}, "*.test")
	write(t, r.resolvConf, "nameserver 127.0.0.1\noptions timeout:30 attempts:1\n")
	r.serve(t)
	defer release()
	c, err := net.Dial("udp", r.udp)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 3 * maxLookups {
		c.Write(packed(t, question1(fmt.Sprintf("n%d.test", i), dns.TypeA)))
		if len(r.slots) > maxLookups || len(r.Resolver.slots) > maxAsking {
			t.Fatalf("%d lookups, %d asked", len(r.slots), len(r.Resolver.slots))
		}
	}
	waitFor(t, func() bool { return len(r.Resolver.slots) == maxAsking })
	if n := r.up.count(); n > maxAsking {
		t.Errorf("%d were asked at once", n)
	}
	v4, _ := r.Book.Refusal(name("x.evil.example")) // what needs no upstream is still answered
	if got := said(r.ask(t, "x.evil.example", dns.TypeA)); got != "NOERROR, A "+v4.String() {
		t.Error(got)
	}
	r.close(policy.ReasonStopped)
	waitFor(t, func() bool { return len(r.slots) == 0 })
}

func TestIPv6Socket(t *testing.T) {
	r := newRig(t, world, "allowed.test")
	pc, err := net.ListenPacket("udp6", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	r.serveOn(t, []net.PacketConn{pc}, nil)
	r.udp = pc.LocalAddr().String()
	for range 3 {
		if got := said(r.ask(t, "allowed.test", dns.TypeAAAA)); got != "NOERROR, AAAA 2001:db8::10" {
			t.Error(got)
		}
	}
}

func TestOneLineForALookup(t *testing.T) {
	var l lines
	now := time.Now()
	k := line{name: "a.test", outcome: "refused"}
	if !l.first(k, now) || l.first(k, now.Add(together-1)) || !l.first(k, now.Add(together)) {
		t.Error("the time in which lookups are one isn't kept")
	}
	if other := (line{name: "a.test", outcome: "allowed"}); !l.first(other, now) {
		t.Error("another outcome is another line")
	}
	for i := range 3 * maxTogether {
		l.first(line{name: fmt.Sprint(i)}, now)
		if len(l.last) > maxTogether {
			t.Fatalf("it remembers %d names", len(l.last))
		}
	}
}
