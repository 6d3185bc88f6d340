package control

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	refusalPattern = "30 refusals within a minute"
	targetPattern  = "20 different targets refused within 10 minutes"
)

var start = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)

func TestThirtyRefusalsWithinAMinute(t *testing.T) {
	// at says when the refusals are: the nth (from 0) after the start.
	cases := map[string]struct {
		at      func(n int) time.Duration
		count   int
		pattern int // the refusal, from 1, that completes the pattern; 0: none does
	}{
		"30 at once":                            {func(int) time.Duration { return 0 }, 30, 30},
		"29 at once":                            {func(int) time.Duration { return 0 }, 29, 0},
		"30, the last just within the minute":   {lastAt(30, time.Minute-1), 30, 30},
		"30, the last a minute after the first": {lastAt(30, time.Minute), 30, 0},
		"one every two seconds for an hour":     {every(2 * time.Second), 1800, 30},
		"one every 2.1 seconds for an hour":     {every(2100 * time.Millisecond), 1800, 0},
		"29 a minute for an hour":               {func(n int) time.Duration { return time.Duration(n/29) * time.Minute }, 29 * 60, 0},
		"29 at a minute's end, 1 in the next":   {func(n int) time.Duration { return 59*time.Second + time.Duration(n/29)*time.Second }, 30, 30},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var tally tally
			for n := range c.count {
				got := tally.call(start.Add(c.at(n)), "denied.test", 443)
				if want := map[bool]string{true: refusalPattern}[n+1 == c.pattern]; got != want {
					t.Fatalf("refusal %d: %q, want %q", n+1, got, want)
				}
				if got != "" {
					return
				}
			}
		})
	}
}

func every(d time.Duration) func(int) time.Duration {
	return func(n int) time.Duration { return time.Duration(n) * d }
}

// lastAt puts all refusals at the start but the last of count.
func lastAt(count int, d time.Duration) func(int) time.Duration {
	return func(n int) time.Duration {
		if n == count-1 {
			return d
		}
		return 0
	}
}

func TestTwentyTargetsWithinTenMinutes(t *testing.T) {
	type step struct {
		after time.Duration // since the step before
		do    func(t *tally, now time.Time) string
	}
	call := func(host string, port uint16) func(*tally, time.Time) string {
		return func(t *tally, now time.Time) string { return t.call(now, host, port) }
	}
	lookup := func(host string) func(*tally, time.Time) string {
		return func(t *tally, now time.Time) string { return t.lookedUp(now, host, typeA) }
	}
	hosts := func(n int, apart time.Duration, do func(string) func(*tally, time.Time) string) (steps []step) {
		for i := range n {
			steps = append(steps, step{apart, do("h" + strconv.Itoa(i))})
		}
		return steps
	}
	https := func(host string) func(*tally, time.Time) string { return call(host, 443) }
	cases := map[string]struct {
		steps   []step
		pattern bool // the last step completes it
	}{
		"20 hosts":                            {hosts(20, 30*time.Second, https), true},
		"19 hosts":                            {hosts(19, 30*time.Second, https), false},
		"19 hosts and one of them again":      {append(hosts(19, 30*time.Second, https), step{0, https("h3")}), false},
		"20 hosts, the last just within":      {append(hosts(19, 0, https), step{10*time.Minute - 1, https("x")}), true},
		"20 hosts, the last ten minutes on":   {append(hosts(19, 0, https), step{10 * time.Minute, https("x")}), false},
		"20 ports of one host":                {portSteps(20, func(p uint16) step { return step{30 * time.Second, call("h", p)} }), true},
		"19 ports of one host":                {portSteps(19, func(p uint16) step { return step{30 * time.Second, call("h", p)} }), false},
		"20 lookups":                          {hosts(20, 30*time.Second, lookup), true},
		"19 lookups":                          {hosts(19, 30*time.Second, lookup), false},
		"19 lookups, then a call to each":     {append(hosts(19, 31*time.Second, lookup), hosts(19, 0, https)...), false},
		"19 calls, then a lookup of each":     {append(hosts(19, 31*time.Second, https), hosts(19, 0, lookup)...), false},
		"19 calls, and a lookup of the 20th":  {append(hosts(19, 30*time.Second, https), step{0, lookup("x")}), true},
		"a host at 2 ports counts twice":      {append(hosts(18, 30*time.Second, https), step{0, call("x", 80)}, step{0, call("x", 443)}), true},
		"a target refused again stays longer": {append([]step{{0, https("x")}, {9 * time.Minute, https("x")}}, hosts(19, 10*time.Second, https)...), true},
		"a target that isn't leaves":          {append([]step{{0, https("x")}, {9 * time.Minute, https("y")}}, hosts(18, 10*time.Second, https)...), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var tally tally
			now := start
			for i, s := range c.steps {
				now = now.Add(s.after)
				want := map[bool]string{true: targetPattern}[c.pattern && i == len(c.steps)-1]
				if got := s.do(&tally, now); got != want {
					t.Fatalf("step %d: %q, want %q", i+1, got, want)
				}
			}
		})
	}
}

func portSteps[S any](n int, step func(uint16) S) (steps []S) {
	for p := range n {
		steps = append(steps, step(uint16(p+1)))
	}
	return steps
}

func TestWhatIsOneRefusal(t *testing.T) {
	const mx = 15
	cases := map[string]struct {
		events string // of "host": A, 4 (AAAA), S (HTTPS), M (MX), ? (a lookup of no type), c (a call); digits of seconds between in (…)
		want   int
	}{
		"a call":                 {"c", 1},
		"two calls":              {"cc", 2},
		"a lookup":               {"A", 1},
		"a lookup of all types":  {"A4S", 1},
		"a lookup and its call":  {"A4Sc", 1},
		"a lookup and two calls": {"A4Scc", 2},
		"a lookup, and its call just within 10 seconds": {"A(9)c", 1},
		"a lookup, and a call 10 seconds later":         {"A(10)c", 2},
		"a type that comes after the call":              {"Ac4", 1},
		"a type that comes 10 seconds later":            {"A(10)4", 2},
		"the same type twice":                           {"AA", 2},
		"two lookups of all types":                      {"A4SA4S", 2},
		"two lookups with a call each":                  {"A4cA4c", 2},
		"a lookup of another type":                      {"M", 1},
		"another type doesn't join":                     {"AM", 2},
		"nothing joins another type":                    {"MA", 2},
		"another type and its call":                     {"Mc", 1},
		"lookups without a type":                        {"???", 3},
		"a lookup without a type and its call":          {"?c", 1},
		"a call, then its lookup":                       {"cA", 2},
		"thirty seconds of one lookup every five":       {"A(5)A(5)A(5)A(5)A(5)A", 6},
	}
	types := map[rune]uint16{'A': typeA, '4': typeAAAA, 'S': typeHTTPS, 'M': mx, '?': 0}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var tally tally
			now := start
			events := c.events
			for events != "" {
				if rest, ok := strings.CutPrefix(events, "("); ok {
					seconds, after, _ := strings.Cut(rest, ")")
					n, err := strconv.Atoi(seconds)
					need(t, err)
					now, events = now.Add(time.Duration(n)*time.Second), after
					continue
				}
				if events[0] == 'c' {
					tally.call(now, "denied.test", 443)
				} else {
					tally.lookedUp(now, "denied.test", types[rune(events[0])])
				}
				events = events[1:]
			}
			if got := counted(&tally); got != c.want {
				t.Fatalf("%s counted as %d, want %d", c.events, got, c.want)
			}
		})
	}
}

func counted(t *tally) (n int) {
	for _, at := range t.times {
		if !at.IsZero() {
			n++
		}
	}
	return n
}

// model says the same as tally the long way: it forgets nothing and counts everything each time.
type model struct {
	refusals []time.Time
	calls    map[string]map[uint16]time.Time
	lookups  map[string]modelLookup
}

type modelLookup struct {
	at     time.Time
	types  []uint16
	called bool
}

func newModel() *model {
	return &model{calls: map[string]map[uint16]time.Time{}, lookups: map[string]modelLookup{}}
}

func (m *model) call(now time.Time, host string, port uint16) string {
	l, ok := m.lookups[host]
	if !ok || now.Sub(l.at) >= 10*time.Second || l.called {
		m.refusals = append(m.refusals, now)
	}
	if ok {
		l.called = true
		m.lookups[host] = l
	}
	if m.calls[host] == nil {
		m.calls[host] = map[uint16]time.Time{}
	}
	m.calls[host][port] = now
	return m.pattern(now)
}

func (m *model) lookedUp(now time.Time, host string, qtype uint16) string {
	together := map[uint16]bool{typeA: true, typeAAAA: true, typeHTTPS: true}
	l, ok := m.lookups[host]
	joins := ok && now.Sub(l.at) < 10*time.Second && together[qtype]
	for _, t := range l.types {
		joins = joins && together[t] && t != qtype
	}
	if joins {
		l.types = append(l.types, qtype)
		m.lookups[host] = l
		return ""
	}
	m.lookups[host] = modelLookup{at: now, types: []uint16{qtype}}
	m.refusals = append(m.refusals, now)
	return m.pattern(now)
}

func (m *model) pattern(now time.Time) string {
	recent := 0
	for _, at := range m.refusals {
		if now.Sub(at) < time.Minute {
			recent++
		}
	}
	if recent >= 30 {
		return refusalPattern
	}
	targets := map[string]bool{}
	for host, ports := range m.calls {
		for port, at := range ports {
			if now.Sub(at) < 10*time.Minute {
				targets[fmt.Sprint(host, ":", port)] = true
				targets[host] = true
			}
		}
	}
	count := 0
	for target := range targets {
		if strings.Contains(target, ":") {
			count++
		}
	}
	for host, l := range m.lookups {
		if now.Sub(l.at) < 10*time.Minute && !targets[host] {
			count++
		}
	}
	if count >= 20 {
		return targetPattern
	}
	return ""
}

func TestTheTallySaysWhatTheModelSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got tally
		want := newModel()
		now := start
		many := rapid.IntRange(1, 40).Draw(t, "hosts")
		pause := time.Duration(rapid.SampledFrom([]int{0, 1, 3, 30, 120}).Draw(t, "seconds apart at most")) * time.Second
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(pause)).Draw(t, "after")))
			host := "h" + strconv.Itoa(rapid.IntRange(0, many-1).Draw(t, "host"))
			var g, w string
			if rapid.Bool().Draw(t, "lookup") {
				qtype := rapid.SampledFrom([]uint16{typeA, typeAAAA, typeHTTPS, 15, 0}).Draw(t, "type")
				g, w = got.lookedUp(now, host, qtype), want.lookedUp(now, host, qtype)
			} else {
				port := rapid.Uint16Range(1, 3).Draw(t, "port")
				g, w = got.call(now, host, port), want.call(now, host, port)
			}
			if g != w {
				t.Fatalf("at %v: the tally says %q, the model %q", now.Sub(start), g, w)
			}
			if targets := len(got.hosts); targets > maxTargets {
				t.Fatalf("%d hosts are kept", targets)
			}
			if g != "" {
				got, want = tally{}, newModel()
			}
		}
	})
}

func TestTheTallyKeepsNoLongString(t *testing.T) {
	var tally tally
	tally.call(start, strings.Repeat("x", 1<<20), 1)
	for host := range tally.hosts {
		if len(host) > maxTallyTarget {
			t.Fatalf("a host of %d bytes is kept", len(host))
		}
	}
}
