package dnsproxy

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
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
