package policy

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
)

// manyRules are n endpoints of all kinds.
func manyRules(t testing.TB, n int) Rules {
	random := rand.New(rand.NewPCG(1, 2))
	var list []string
	for i := range n {
		switch i % 4 {
		case 0:
			list = append(list, fmt.Sprintf("host%d.example%d.test", i, i%97))
		case 1:
			list = append(list, fmt.Sprintf("*.zone%d.test:%d", i, 1+i%1000))
		case 2:
			list = append(list, fmt.Sprintf("203.%d.%d.0/24:443", random.IntN(256), random.IntN(256)))
		case 3:
			list = append(list, fmt.Sprintf("[2001:db8:%x::/%d]", i, 48+i%16))
		}
	}
	return rules(t, ModeEndpoints, list, 5432)
}

func TestACallAllocatesNothing(t *testing.T) {
	r := manyRules(t, 1000)
	for sentence, c := range hardCalls() {
		if n := testing.AllocsPerRun(100, func() { r.Connection(c.to, c.names); r.Shown(c.shown, 443); r.Address(c.to, c.shown, isLocal) }); n != 0 {
			t.Errorf("%s: %v allocations", sentence, n)
		}
	}
}

// hardCalls are calls that are dear to judge.
func hardCalls() map[string]call {
	deep := mustName(strings.Repeat("a.", 120) + "zone1.test")
	several := names("one.test", "two.test", "three.test", "host0.example0.test")
	return map[string]call{
		"an exact name":           {netip.MustParseAddrPort("203.0.113.66:443"), names("host400.example12.test"), HostNamed(mustName("host400.example12.test"))},
		"several names":           {netip.MustParseAddrPort("203.0.113.66:443"), several, HostNamed(several[3])},
		"a name 120 labels below": {netip.MustParseAddrPort("203.0.113.66:443"), []Name{deep}, HostNamed(deep)},
		"a refused name":          {netip.MustParseAddrPort("198.51.100.66:443"), names("denied.test"), HostNamed(mustName("denied.test"))},
		"a refused IPv4 literal":  {netip.MustParseAddrPort("198.51.100.66:443"), nil, HostAt(addr("198.51.100.66"))},
		"a refused IPv6 literal":  {netip.MustParseAddrPort("[2001:db9::1]:443"), nil, HostAt(addr("2001:db9::1"))},
	}
}

func BenchmarkConnection(b *testing.B) {
	r := manyRules(b, 10_000)
	for sentence, c := range hardCalls() {
		b.Run(sentence, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Connection(c.to, c.names)
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	r := manyRules(b, 10_000)
	for sentence, c := range hardCalls() {
		if len(c.names) == 0 {
			continue
		}
		b.Run(sentence, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Lookup(c.names[0])
			}
		})
	}
}

func BenchmarkNewRules(b *testing.B) {
	list := manyRules(b, 10_000).Endpoints()
	for b.Loop() {
		if _, err := NewRules(ModeEndpoints, list, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseHost(b *testing.B) {
	for _, s := range []string{"allowed.test", "203.0.113.10", "bücher.test"} {
		b.Run(s, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ParseHost(s)
			}
		})
	}
}
