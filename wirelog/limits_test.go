package wirelog

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// One call ends in nothing a thousand times: 120 lines, and the next one a minute later says the rest.
func TestFloodIsOneLineInEight(t *testing.T) {
	path, clock := logPath(t), newClock(0)
	l := open(t, path, Options{Sandbox: box, Now: clock.now})
	for i := range 1000 {
		must(t, l.Write(Record{Verb: TCP, Target: NameTarget(fmt.Sprint("n", i)), Outcome: Failed}))
	}
	must(t, l.Write(Record{Verb: TCP, Target: NameTarget("other"), Outcome: Refused}))
	clock.at = clock.at.Add(time.Minute)
	must(t, l.Write(Record{Verb: TCP, Target: NameTarget("later"), Outcome: Failed}))
	got := texts(t, path)
	if len(got) != 122 {
		t.Fatalf("%d lines", len(got))
	}
	same(t, got[119:], []string{
		"2026-11-30T12:00:00.000Z box tcp n119 failed",
		"2026-11-30T12:00:00.000Z box tcp other refused",
		"2026-11-30T12:01:00.000Z box tcp later failed (and 880 more failed since)",
	})
}

func TestWhatIsLeftOut(t *testing.T) {
	refused := func(verb Verb, reason string) Record {
		return Record{Verb: verb, Target: NameTarget("a"), Outcome: Refused, Reason: reason}
	}
	always := refused(HTTP, "the sandbox is paused")
	always.Always = true
	ended := Record{Verb: TCP, Target: NameTarget("a"), Outcome: Ended, Reason: "the sandbox is paused"}
	at := "2026-11-30T12:00:00.000Z box "
	tests := map[string]struct {
		records []Record
		want    []string // before Close
		closing []string // what Close adds
	}{
		"of refusals while stopped, paused or over the limit, all but one": {
			[]Record{refused(TCP, "the sandbox is paused"), refused(TCP, "every sandbox is stopped"), refused(TCP, "over the limit of calls"), refused(TCP, "paused, since its settings can't be read")},
			[]string{at + "tcp a refused (the sandbox is paused)"},
			[]string{at + "tcp a refused (paused, since its settings can't be read) (and 2 more refused since)"},
		},
		"the next refusal of another kind says so": {
			[]Record{refused(TCP, "the sandbox is paused"), refused(TCP, "the sandbox is paused"), refused(TCP, "malformed")},
			[]string{at + "tcp a refused (the sandbox is paused)", at + "tcp a refused (malformed) (and 1 more refused since)"},
			nil,
		},
		"of web pages' requests, all but one": {
			[]Record{refused(Browser, ""), refused(Browser, ""), refused(TCP, "")},
			[]string{at + "browser a refused", at + "tcp a refused (and 1 more refused since)"},
			nil,
		},
		"of web pages' requests in a paused sandbox, all but one of both": {
			[]Record{refused(Browser, ""), refused(Browser, "the sandbox is paused"), refused(Browser, "the sandbox is paused")},
			[]string{at + "browser a refused", at + "browser a refused (the sandbox is paused)"},
			[]string{at + "browser a refused (the sandbox is paused)"},
		},
		"never one that is always written": {
			[]Record{always, always, always},
			[]string{at + "http a refused (the sandbox is paused)", at + "http a refused (the sandbox is paused)", at + "http a refused (the sandbox is paused)"},
			nil,
		},
		"not a call that a pause ended": {
			[]Record{ended, ended},
			[]string{at + "tcp a ended 0 out 0 in (the sandbox is paused)", at + "tcp a ended 0 out 0 in (the sandbox is paused)"},
			nil,
		},
		"not a web page's request that was let through": {
			[]Record{{Verb: Browser, Outcome: Allowed}, {Verb: Browser, Outcome: Allowed}},
			[]string{at + "browser - allowed", at + "browser - allowed"},
			nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := logPath(t)
			l := open(t, path, Options{Sandbox: box, Now: newClock(0).now})
			for _, r := range tt.records {
				must(t, l.Write(r))
			}
			same(t, texts(t, path), tt.want)
			must(t, l.Close())
			same(t, texts(t, path)[len(tt.want):], tt.closing)
		})
	}
}

// A paused sandbox's refusals: one line a minute.
func TestPausedForAnHour(t *testing.T) {
	path, clock := logPath(t), newClock(time.Second)
	l := open(t, path, Options{Sandbox: box, Now: clock.now})
	for range 3600 {
		must(t, l.Write(Record{Verb: TCP, Outcome: Refused, Reason: "the sandbox is paused"}))
	}
	must(t, l.Close())
	got := lines(t, path, Query{})
	if len(got) != 61 { // the last of them from Close
		t.Errorf("%d lines", len(got))
	}
	if sum := calls(got); sum != 3600 {
		t.Errorf("%d calls are accounted for", sum)
	}
}

func calls(all []Line) int {
	sum := 0
	for _, l := range all {
		sum += 1 + l.Record.More
	}
	return sum
}

// Whatever a wire's calls are and however its clock moves: within no minute are more than 120 lines of an outcome (or
// one of a quiet kind), a line that has room is written at once, and in the end every call is a line or counted in one.
func TestLimitsHoldForAnyMinute(t *testing.T) {
	reasons := []string{"", "malformed", "the sandbox is paused", "every sandbox is stopped", "over the limit of calls"}
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := fmt.Sprintf("%s/wire.log.d%d", dir, rand.Uint64())
		clock := newClock(0)
		l, err := Open(path, Options{Sandbox: box, Now: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(path)
		defer l.Close()
		passed := []time.Duration{} // of each line, time that passed before it
		var sum, written int
		var elapsed time.Duration
		for range rapid.IntRange(1, 30).Draw(t, "bursts") {
			step := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(40*time.Second)).Draw(t, "step"))
			if rapid.Bool().Draw(t, "forward") && step < 0 {
				step = -step % (70 * time.Second)
			}
			clock.at = clock.at.Add(step)
			elapsed += max(step, 0)
			r := Record{
				Verb:    rapid.SampledFrom([]Verb{TCP, Browser}).Draw(t, "verb"),
				Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"),
				Reason:  rapid.SampledFrom(reasons).Draw(t, "reason"),
				Target:  NameTarget("a"),
			}
			for range rapid.SampledFrom([]int{1, 2, 100, 119, 121, 200}).Draw(t, "calls") {
				if err := l.Write(r); err != nil {
					t.Fatal(err)
				}
				sum++
			}
			all := count(t, path)
			for ; written < all; written++ {
				passed = append(passed, elapsed)
			}
		}
		got := collect(t, path)
		checkLimits(t, got, passed)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		got = collect(t, path)
		if n := calls(got); n != sum || len(got) > written+4 {
			t.Fatalf("%d calls, %d are accounted for; %d lines at Close", sum, n, len(got)-written)
		}
	})
}

// checkLimits looks at each line and the minute before it.
func checkLimits(t *rapid.T, all []Line, passed []time.Duration) {
	for i := range all {
		outcome, paused, pages := 0, 0, 0
		for j := i; j >= 0 && passed[i]-passed[j] < time.Minute; j-- {
			a, b := all[i].Record, all[j].Record
			if a.Outcome == b.Outcome {
				outcome++
			}
			if a.Outcome == Refused && quiet[a.Reason] && b.Outcome == Refused && quiet[b.Reason] {
				paused++
			}
			if a.Outcome == Refused && a.Verb == Browser && !quiet[a.Reason] && b.Outcome == Refused && b.Verb == Browser && !quiet[b.Reason] {
				pages++
			}
		}
		if outcome > 120 || paused > 1 || pages > 1 {
			t.Fatalf("line %d: in the minute before it %d of its outcome, %d quiet ones, %d pages'", i, outcome, paused, pages)
		}
	}
}

func collect(t *rapid.T, path string) []Line {
	var all []Line
	for l, err := range Read(path, Query{}) {
		if err != nil || l.Err != nil {
			t.Fatal(err, l.Err)
		}
		all = append(all, l)
	}
	return all
}

func count(t *rapid.T, path string) int { return len(collect(t, path)) }

func TestClockSetBackNeitherOpensNorShuts(t *testing.T) {
	path, clock := logPath(t), newClock(0)
	l := open(t, path, Options{Sandbox: box, Now: clock.now})
	fill := func() int {
		before := len(texts(t, path))
		for range 200 {
			must(t, l.Write(rec("a")))
		}
		return len(texts(t, path)) - before
	}
	if n := fill(); n != 120 {
		t.Fatalf("%d lines at first", n)
	}
	clock.at = clock.at.Add(-24 * time.Hour)
	if n := fill(); n != 0 {
		t.Errorf("%d lines once it was set back a day", n)
	}
	clock.at = clock.at.Add(time.Minute)
	if n := fill(); n != 120 {
		t.Errorf("%d lines a minute after that", n)
	}
}
