package dnsproxy

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"lnk/policy"
	"lnk/wirelog"
)

// rig is a server with everything around it: a scripted upstream, settings, and what it was told.
type rig struct {
	*Server
	up         *upstream
	resolvConf string
	hosts      string
	udp        string // where it listens
	tcp        string

	mu      sync.Mutex
	rules   policy.Rules
	closed  policy.Reason // why the gate is closed; empty: open
	lines   []string      // target, outcome, reason
	watched []string
}

type rigGate struct{ *rig }

func (g rigGate) Check() policy.Decision {
	g.mu.Lock()
	defer g.mu.Unlock()
	return policy.Decision{Allowed: g.closed == "", Reason: g.closed}
}

type rigLog struct{ *rig }

func (l rigLog) Write(r wirelog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := string(r.Verb) + " " + r.Target.String() + " " + string(r.Outcome)
	if r.Reason != "" {
		text += " (" + r.Reason + ")"
	}
	l.lines = append(l.lines, text)
	return nil
}

type rigWatch struct{ *rig }

func (w rigWatch) Refused(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watched = append(w.watched, name)
}

func (r *rig) logged() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.lines...)
}

func (r *rig) told() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.watched...)
}

func (r *rig) close(why policy.Reason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = why
}

func (r *rig) allow(t testing.TB, mode policy.Mode, endpoints ...string) {
	t.Helper()
	rules := rulesOf(t, mode, endpoints...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rules = rules
}

func rulesOf(t testing.TB, mode policy.Mode, endpoints ...string) policy.Rules {
	t.Helper()
	var all []policy.Endpoint
	for _, text := range endpoints {
		e, err := policy.ParseEndpoint(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	rules, err := policy.NewRules(mode, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// newRig makes a server that isn't listening yet, whose upstream says what the script says.
func newRig(t testing.TB, say func(int, asked) *dns.Msg, endpoints ...string) *rig {
	t.Helper()
	r := &rig{up: &upstream{say: say}}
	dir := t.TempDir()
	r.resolvConf, r.hosts = filepath.Join(dir, "resolv.conf"), filepath.Join(dir, "hosts")
	at := r.up.start(t, "127.0.0.1", 0)
	write(t, r.resolvConf, "nameserver 127.0.0.1\n")
	write(t, r.hosts, "127.0.0.1 localhost\n")
	resolver := NewResolver(ResolverConfig{ResolvConf: r.resolvConf, Hosts: r.hosts})
	resolver.port = at.Port()
	t.Cleanup(func() { resolver.Close() })
	r.allow(t, policy.ModeEndpoints, endpoints...)
	var err error
	r.Server, err = New(Config{
		Rules: func() policy.Rules {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.rules
		},
		Gate:     rigGate{r},
		Book:     NewBook(0),
		Resolver: resolver,
		Log:      rigLog{r},
		Watch:    rigWatch{r},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// serve makes it listen on a loopback address, until the test ends.
func (r *rig) serve(t testing.TB) *rig {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.udp, r.tcp = pc.LocalAddr().String(), l.Addr().String()
	r.serveOn(t, []net.PacketConn{pc}, []net.Listener{l})
	return r
}

func (r *rig) serveOn(t testing.TB, udp []net.PacketConn, tcp []net.Listener) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Serve(ctx, udp, tcp) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func name(s string) policy.Name {
	n, err := policy.ParseName(s)
	if err != nil {
		panic(err)
	}
	return n
}

// ask sends a question over UDP.
func (r *rig) ask(t testing.TB, name string, qtype uint16) *dns.Msg {
	t.Helper()
	return r.exchange(t, "udp", new(dns.Msg).SetQuestion(dns.Fqdn(name), qtype))
}

func (r *rig) exchange(t testing.TB, network string, m *dns.Msg) *dns.Msg {
	t.Helper()
	at := r.udp
	if network == "tcp" {
		at = r.tcp
	}
	c := dns.Client{Net: network, Timeout: 15 * time.Second}
	reply, _, err := c.Exchange(m, at)
	if err != nil {
		t.Fatalf("asking %v: %v", m.Question, err)
	}
	return reply
}

// said is an answer in short: the rcode, then each record's type and data.
func said(m *dns.Msg) string {
	text := []string{dns.RcodeToString[m.Rcode]}
	for _, rr := range m.Answer {
		fields := strings.Fields(rr.String()) // name, TTL, class, type, data
		text = append(text, strings.Join(fields[3:], " "))
	}
	return strings.Join(text, ", ")
}
