package dnsproxy

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"lnk/policy"
)

func TestWhileTheGateIsClosed(t *testing.T) {
	r := newRig(t, world, "allowed.test", "alias.test").serve(t)
	r.ask(t, "allowed.test", dns.TypeA)
	asked := r.up.count()
	r.close(policy.ReasonPaused)
	v4, v6 := r.Book.Refusal(name("alias.test"))
	evil4, _ := r.Book.Refusal(name("x.evil.test"))
	tests := map[string]struct {
		name  string
		qtype uint16
		want  string
	}{
		"a name that was looked up has the address it had":     {"allowed.test", dns.TypeA, "NOERROR, A 203.0.113.10, A 203.0.113.11"},
		"and none of a family that wasn't":                     {"allowed.test", dns.TypeAAAA, "NOERROR"},
		"one that is allowed and wasn't has a refusal address": {"alias.test", dns.TypeA, "NOERROR, A " + v4.String()},
		"of either family":             {"alias.test", dns.TypeAAAA, "NOERROR, AAAA " + v6.String()},
		"and so has any other":         {"x.evil.test", dns.TypeA, "NOERROR, A " + evil4.String()},
		"there is no other record":     {"allowed.test", dns.TypeTXT, "NOERROR"},
		"localhost is still localhost": {"localhost", dns.TypeA, "NOERROR, A 127.0.0.1"},
	}
	for sentence, test := range tests {
		m := r.ask(t, test.name, test.qtype)
		if got := said(m); got != test.want {
			t.Errorf("%s: %s, want %s", sentence, got, test.want)
		}
		for _, rr := range m.Answer {
			if rr.Header().Ttl != 0 && test.name != "localhost" {
				t.Errorf("%s: a TTL of %d", sentence, rr.Header().Ttl)
			}
		}
	}
	if r.up.count() != asked {
		t.Errorf("upstream was asked %q", r.up.names())
	}
	if !slices.Contains(r.logged(), "dns alias.test refused (the sandbox is paused)") {
		t.Errorf("lines %q", r.logged())
	}
	if len(r.told()) != 0 {
		t.Errorf("the watch was told %q", r.told())
	}
	r.close("")
	if got := said(r.ask(t, "alias.test", dns.TypeA)); got != "NOERROR, CNAME middle.evil.test., CNAME end.evil.test., A 203.0.113.66" {
		t.Errorf("open again: %s", got)
	}
}

func TestAGateWithoutAReasonIsClosed(t *testing.T) {
	r := newRig(t, world, "allowed.test")
	r.Gate = zeroGate{}
	r.serve(t)
	v4, _ := r.Book.Refusal(name("allowed.test"))
	if got := said(r.ask(t, "allowed.test", dns.TypeA)); got != "NOERROR, A "+v4.String() || r.up.count() != 0 {
		t.Errorf("%s, asked %q", got, r.up.names())
	}
}

type zeroGate struct{}

func (zeroGate) Check() policy.Decision { return policy.Decision{} }

func TestLookupsUnderWayEndWhenTheGateCloses(t *testing.T) {
	r := newRig(t, silent, "*.test")
	write(t, r.resolvConf, "nameserver 127.0.0.1\noptions timeout:30\n")
	r.serve(t)
	var all sync.WaitGroup
	began := make(chan time.Time, 1)
	for _, network := range []string{"udp", "tcp"} {
		all.Go(func() {
			v4, _ := r.Book.Refusal(name(network + ".test"))
			m := r.exchange(t, network, question1(network+".test", dns.TypeA))
			took := time.Since(<-began)
			began <- time.Now()
			if got := said(m); got != "NOERROR, A "+v4.String() || m.Answer[0].Header().Ttl != 0 {
				t.Errorf("%s: %s", network, got)
			}
			if took > time.Second { // what the promise says
				t.Errorf("%s: ended after %v", network, took)
			}
		})
	}
	waitFor(t, func() bool { return r.up.count() >= 2 })
	r.close(policy.ReasonStopped)
	began <- time.Now()
	all.Wait()
}

func TestServeEndsWithLookupsUnderWay(t *testing.T) {
	r := newRig(t, silent, "*.test")
	write(t, r.resolvConf, "nameserver 127.0.0.1\noptions timeout:30\n")
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Serve(ctx, []net.PacketConn{pc}, []net.Listener{l}) }()
	for _, network := range []string{"udp", "tcp"} {
		at := pc.LocalAddr().String()
		if network == "tcp" {
			at = l.Addr().String()
		}
		c, err := dns.Dial(network, at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.WriteMsg(question1(network+".test", dns.TypeA))
	}
	waitFor(t, func() bool { return r.up.count() >= 2 })
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on")
	}
}
