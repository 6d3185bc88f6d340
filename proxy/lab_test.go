package proxy

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lnk/policy"
	"lnk/wirelog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The addresses of the labs: documentation ranges, which the policy takes for public ones.
const (
	allowedAddr = "203.0.113.10"
	sharedAddr  = "203.0.113.30"
	evilAddr    = "203.0.113.66"
	ownAddr     = "192.0.2.1" // this machine's
)

// lab is a wire on loopback: its clients' destinations, its names, and where an upstream address really leads are given by the test.
type lab struct {
	t        *testing.T
	wire     *Wire
	listener *net.TCPListener
	stop     func()

	mu       sync.Mutex
	changed  *sync.Cond
	origins  map[netip.AddrPort]netip.AddrPort // a client's own address → where it was going
	book     map[netip.Addr][]policy.Name
	zone     map[policy.Name][]netip.Addr
	servers  map[netip.AddrPort]netip.AddrPort
	dialled  []netip.AddrPort
	records  []wirelog.Record
	refused  []string
	metadata []string
	rules    policy.Rules
	gate     policy.Decision

	out, in atomic.Int64
}

// newLab makes a wire whose sandbox may call endpoints (mode open where there are none).
func newLab(t *testing.T, endpoints ...string) *lab {
	t.Helper()
	l := &lab{
		t: t, origins: map[netip.AddrPort]netip.AddrPort{}, book: map[netip.Addr][]policy.Name{}, zone: map[policy.Name][]netip.Addr{},
		servers: map[netip.AddrPort]netip.AddrPort{}, gate: policy.Decision{Allowed: true},
	}
	l.changed = sync.NewCond(&l.mu)
	l.setRules(endpoints...)
	patient := 15 * time.Second // no test may depend on how fast its client is
	limits := Limits{Hello: patient, FirstByte: patient, Words: patient, Quiet: patient, Dial: patient, Stagger: DefaultLimits.Stagger}
	authority, err := NewAuthority("lab")
	if err != nil {
		t.Fatal(err)
	}
	l.wire, err = New(Config{Authority: authority,
		Rules: func() policy.Rules { l.mu.Lock(); defer l.mu.Unlock(); return l.rules },
		Gate:  l, Book: l, Resolver: l, Log: l, Counter: l, Watch: l,
		Original: l.original, Local: func(a netip.Addr) bool { return a == netip.MustParseAddr(ownAddr) }, Connect: l.connect, Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.listener = listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := l.wire.Serve(ctx, Listeners{Redirected: []*net.TCPListener{l.listener}}); err != nil {
			t.Errorf("serving: %v", err)
		}
	}()
	l.stop = sync.OnceFunc(func() {
		cancel()
		<-served
		l.checkLog()
	})
	t.Cleanup(l.stop)
	return l
}

// quiet makes the lab's wire log an allowed flow on which neither side speaks at once.
func (l *lab) quiet() *lab {
	l.wire.Limits.Quiet = time.Millisecond
	return l
}

// setRules takes endpoints and, as numbers alone, ports of this machine.
func (l *lab) setRules(endpoints ...string) {
	l.t.Helper()
	mode, parsed, ports := policy.ModeOpen, []policy.Endpoint(nil), []uint16(nil)
	for _, e := range endpoints {
		if n, err := strconv.ParseUint(e, 10, 16); err == nil {
			mode, ports = policy.ModeEndpoints, append(ports, uint16(n))
			continue
		}
		p, err := policy.ParseEndpoint(e)
		if err != nil {
			l.t.Fatal(err)
		}
		mode, parsed = policy.ModeEndpoints, append(parsed, p)
	}
	rules, err := policy.NewRules(mode, parsed, ports)
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	l.rules = rules
	l.mu.Unlock()
}

// The parts of the wire that the lab plays.

func (l *lab) Check() policy.Decision { l.mu.Lock(); defer l.mu.Unlock(); return l.gate }

func (l *lab) Names(a netip.Addr) []policy.Name { l.mu.Lock(); defer l.mu.Unlock(); return l.book[a] }

func (l *lab) Resolve(_ context.Context, n policy.Name) ([]netip.Addr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.zone[n], nil
}

func (l *lab) Write(r wirelog.Record) error {
	l.mu.Lock()
	l.records = append(l.records, r)
	l.changed.Broadcast()
	l.mu.Unlock()
	return nil
}

func (l *lab) Add(out, in int64) { l.out.Add(out); l.in.Add(in) }

func (l *lab) Refused(host string, port uint16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = append(l.refused, net.JoinHostPort(host, strconv.Itoa(int(port))))
}

func (l *lab) Metadata(canonical, shown string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.metadata = append(l.metadata, canonical+" "+shown)
}

func (l *lab) original(c *net.TCPConn) (netip.AddrPort, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.origins[c.RemoteAddr().(*net.TCPAddr).AddrPort()], nil
}

func (l *lab) connect(ctx context.Context, to netip.AddrPort, check func(netip.AddrPort) error) (*net.TCPConn, error) {
	if err := check(to); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.dialled = append(l.dialled, to)
	really, known := l.servers[to]
	l.mu.Unlock()
	if !known {
		<-ctx.Done() // nobody is there
		return nil, ctx.Err()
	}
	return connectLiteral(ctx, really, func(netip.AddrPort) error { return nil })
}

// What tests set up and look at.

func name(t *testing.T, s string) policy.Name {
	t.Helper()
	n, err := policy.ParseName(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// named puts a name with its addresses in the zone, and, as a lookup by the sandbox would, in the book.
func (l *lab) named(s string, addrs ...string) {
	l.inZone(s, addrs...)
	l.mu.Lock()
	defer l.mu.Unlock()
	n := name(l.t, s)
	for _, a := range l.zone[n] {
		l.book[a] = append(l.book[a], n)
	}
}

func (l *lab) inZone(s string, addrs ...string) {
	n := name(l.t, s)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range addrs {
		l.zone[n] = append(l.zone[n], netip.MustParseAddr(a))
	}
}

// server runs handle for each connection to addr, and records what the server read.
func (l *lab) server(addr string, handle func(*net.TCPConn, *serverRecord)) *serverRecord {
	ln := listen(l.t)
	rec := &serverRecord{}
	var handlers sync.WaitGroup
	handlers.Go(func() {
		for {
			c, err := ln.AcceptTCP()
			if err != nil {
				return
			}
			rec.conns.Add(1)
			handlers.Go(func() { defer c.Close(); handle(c, rec) })
		}
	})
	l.t.Cleanup(func() { l.stop(); ln.Close(); handlers.Wait() })
	l.mu.Lock()
	l.servers[netip.MustParseAddrPort(addr)] = ln.Addr().(*net.TCPAddr).AddrPort()
	l.mu.Unlock()
	return rec
}

type serverRecord struct {
	conns atomic.Int64
	mu    sync.Mutex
	read  bytes.Buffer
}

func (r *serverRecord) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.read.Write(p)
}

func (r *serverRecord) bytes() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.read.String()
}

// recording reads everything from a connection into the record.
func recording(c *net.TCPConn, rec *serverRecord) { io.Copy(rec, c) }

// echo sends back what it reads.
func echo(c *net.TCPConn, _ *serverRecord) { io.Copy(c, c) }

// call connects as the sandbox would, to addr.
func (l *lab) call(addr string) *net.TCPConn {
	l.t.Helper()
	l.mu.Lock() // the wire reads where it was going only after this is written
	defer l.mu.Unlock()
	c, err := net.DialTCP("tcp", nil, l.listener.Addr().(*net.TCPAddr))
	if err != nil {
		l.t.Fatal(err)
	}
	l.origins[c.LocalAddr().(*net.TCPAddr).AddrPort()] = netip.MustParseAddrPort(addr)
	l.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

// lines waits until the log has n records and returns them as text.
func (l *lab) lines(n int) []string {
	l.t.Helper()
	deadline := time.AfterFunc(10*time.Second, func() { l.mu.Lock(); l.changed.Broadcast(); l.mu.Unlock() })
	defer deadline.Stop()
	end := time.Now().Add(10 * time.Second)
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.records) < n && time.Now().Before(end) {
		l.changed.Wait()
	}
	var lines []string
	for _, r := range l.records {
		line := string(r.Verb) + " " + r.Target.String() + " " + string(r.Outcome)
		if r.Reason != "" {
			line += " (" + r.Reason + ")"
		}
		lines = append(lines, line)
	}
	if len(lines) != n {
		l.t.Fatalf("the log has %d lines, want %d: %q", len(lines), n, lines)
	}
	return lines
}

func (l *lab) wantLines(want ...string) {
	l.t.Helper()
	if got := l.lines(len(want)); !slices.Equal(got, want) {
		l.t.Fatalf("log:\n got %q\nwant %q", got, want)
	}
}

// checkLog is what holds after every test: as many ends as allowed calls, and no flow left.
func (l *lab) checkLog() {
	l.mu.Lock()
	defer l.mu.Unlock()
	open := map[wirelog.Target]int{}
	for _, r := range l.records {
		switch r.Outcome {
		case wirelog.Allowed:
			open[r.Target]++
		case wirelog.Ended:
			open[r.Target]--
		}
		if r.Outcome == wirelog.Refused && r.Reason == "" {
			l.t.Errorf("a refusal without a reason: %v", r)
		}
	}
	for target, n := range open {
		if n != 0 {
			l.t.Errorf("%s: %d calls allowed and not ended", target, n)
		}
	}
	if n := l.wire.Open(); n != 0 {
		l.t.Errorf("%d flows are open", n)
	}
}

func listen(t *testing.T) *net.TCPListener {
	t.Helper()
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// certificate makes a self-signed certificate for names.
var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"allowed.test", "denied.test", "shared.test", "*.good.test"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

func clientTLS(server string) *tls.Config {
	pool := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(certificate().Certificate[0])
	if err != nil {
		panic(err)
	}
	pool.AddCert(leaf)
	return &tls.Config{RootCAs: pool, ServerName: server}
}

// tlsEcho serves TLS and sends back what it gets.
func tlsEcho(c *net.TCPConn, _ *serverRecord) {
	t := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate()}})
	io.Copy(t, t)
	t.CloseWrite()
}

func addrPort(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }
