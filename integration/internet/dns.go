package internet

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// Query is one question that reached the DNS server.
type Query struct {
	Name  string // as it was asked, without the trailing dot
	Type  string // A, AAAA, TXT …
	Proto string // udp or tcp
	From  netip.AddrPort
	At    time.Time
}

// Answer is what the server says to one question. The zero value is NODATA, at once.
type Answer struct {
	Records []string // resource records in zone-file form
	Rcode   int
	Delay   time.Duration
	Silent  bool           // no answer at all
	Cut     bool           // truncated over UDP, whatever its size
	Edit    func(*dns.Msg) // a last change before it is sent
}

// Script answers a name's questions: n counts them from 1, over all types.
type Script func(n int, qtype string) Answer

// DNS is the internet's scripted DNS server. It answers from its zone, or by a script.
type DNS struct {
	mu      sync.Mutex
	zone    map[string][]dns.RR // what is always there
	extra   map[string][]dns.RR // what a test added
	scripts map[string]Script
	counts  map[string]int
	queries []Query
	servers []*dns.Server
}

func newDNS() *DNS {
	d := &DNS{zone: map[string][]dns.RR{}}
	d.reset()
	return d
}

func (d *DNS) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.extra, d.scripts = map[string][]dns.RR{}, map[string]Script{}
	d.counts, d.queries = map[string]int{}, nil
}

// Queries are the questions that came since the world was given to this test.
func (d *DNS) Queries() []Query {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Query(nil), d.queries...)
}

// Asked are the questions about a name or anything below it, in any case.
func (d *DNS) Asked(name string) []Query {
	var asked []Query
	for _, q := range d.Queries() {
		if dns.IsSubDomain(dns.Fqdn(strings.ToLower(name)), dns.Fqdn(strings.ToLower(q.Name))) {
			asked = append(asked, q)
		}
	}
	return asked
}

// Add adds records, in zone-file form, for this test. They take the place of the zone's for the same name.
func (d *DNS) Add(t testing.TB, records ...string) {
	t.Helper()
	if err := d.Set(records...); err != nil {
		t.Fatal(err)
	}
}

// Set is Add outside a test.
func (d *DNS) Set(records ...string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return into(d.extra, records)
}

// Script makes f answer all questions about a name, for this test.
func (d *DNS) Script(name string, f Script) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scripts[dns.Fqdn(strings.ToLower(name))] = f
}

// Also makes the server answer on port 53 of another address, for this test.
func (w *World) Also(t testing.TB, addr netip.Addr) {
	t.Helper()
	servers, err := w.DNS.serve(w.net, addr)
	if err != nil {
		t.Fatalf("DNS server at %s: %v", addr, err)
	}
	t.Cleanup(func() { shutdown(servers) })
}

// start serves on the internet's DNS addresses.
func (d *DNS) start(n *network) error {
	for _, a := range []netip.Addr{resolver4, resolver6} {
		servers, err := d.serve(n, a)
		if err != nil {
			return fmt.Errorf("DNS server at %s: %w", a, err)
		}
		d.servers = append(d.servers, servers...)
	}
	return nil
}

func (d *DNS) serve(n *network, addr netip.Addr) ([]*dns.Server, error) {
	at := netip.AddrPortFrom(addr, 53)
	pc, err := n.listenPacket(at)
	if err != nil {
		return nil, err
	}
	l, err := n.listen(at)
	if err != nil {
		return nil, err
	}
	servers := []*dns.Server{
		{PacketConn: pc, Handler: dns.HandlerFunc(d.answer)},
		{Listener: l, Handler: dns.HandlerFunc(d.answer)},
	}
	for _, s := range servers {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go s.ActivateAndServe()
		<-started
	}
	return servers, nil
}

func shutdown(servers []*dns.Server) {
	for _, s := range servers {
		s.Shutdown()
	}
}

func (d *DNS) answer(w dns.ResponseWriter, q *dns.Msg) {
	if len(q.Question) != 1 {
		m := new(dns.Msg)
		w.WriteMsg(m.SetRcode(q, dns.RcodeFormatError))
		return
	}
	a := d.look(w, q.Question[0])
	if a.Delay > 0 {
		<-time.After(a.Delay)
	}
	if a.Silent {
		return
	}
	m := new(dns.Msg).SetRcode(q, a.Rcode)
	m.Authoritative, m.RecursionAvailable, m.Compress = true, true, true
	for _, text := range a.Records {
		if rr, err := dns.NewRR(text); err == nil && rr != nil {
			m.Answer = append(m.Answer, rr)
		}
	}
	size := dns.MaxMsgSize
	if w.RemoteAddr().Network() == "udp" {
		size = dns.MinMsgSize
		if opt := q.IsEdns0(); opt != nil {
			size = int(opt.UDPSize())
		}
		if a.Cut {
			m.Answer, m.Truncated = nil, true
		}
	}
	if opt := q.IsEdns0(); opt != nil {
		m.SetEdns0(1232, false)
	}
	m.Truncate(size)
	if a.Edit != nil {
		a.Edit(m)
	}
	w.WriteMsg(m)
}

// look writes the question down and finds its answer.
func (d *DNS) look(w dns.ResponseWriter, q dns.Question) Answer {
	key, kind := strings.ToLower(q.Name), dns.TypeToString[q.Qtype]
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts[key]++
	d.queries = append(d.queries, Query{
		Name: strings.TrimSuffix(q.Name, "."), Type: kind, Proto: w.RemoteAddr().Network(), From: from(w.RemoteAddr()), At: time.Now(),
	})
	if script := d.scripts[key]; script != nil {
		return script(d.counts[key], kind)
	}
	return d.find(key, q.Qtype, 8)
}

// find answers from the zone, following aliases for at most depth steps.
func (d *DNS) find(name string, qtype uint16, depth int) Answer {
	records, known := d.extra[name]
	if !known {
		records, known = d.zone[name]
	}
	if !known {
		return Answer{Rcode: dns.RcodeNameError}
	}
	var a Answer
	for _, rr := range records {
		switch alias, isAlias := rr.(*dns.CNAME); {
		case rr.Header().Rrtype == qtype || qtype == dns.TypeANY:
			a.Records = append(a.Records, rr.String())
		case isAlias && depth > 0:
			rest := d.find(strings.ToLower(alias.Target), qtype, depth-1)
			a.Rcode = rest.Rcode
			a.Records = append(append(a.Records, rr.String()), rest.Records...)
		}
	}
	return a
}

func from(a net.Addr) netip.AddrPort {
	p, _ := netip.ParseAddrPort(a.String())
	return p
}

// always adds what is in the zone for every test.
func (d *DNS) always(records ...string) error { return into(d.zone, records) }

func into(zone map[string][]dns.RR, records []string) error {
	for _, text := range records {
		rr, err := dns.NewRR(text)
		if err != nil {
			return fmt.Errorf("DNS record %q: %w", text, err)
		}
		key := strings.ToLower(rr.Header().Name)
		zone[key] = append(zone[key], rr)
	}
	return nil
}
