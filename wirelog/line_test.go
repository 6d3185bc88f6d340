package wirelog

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"lnk/policy"
	"lnk/settings"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 5_000_000, time.UTC)

func TestFormat(t *testing.T) {
	at := "2026-11-30T12:00:00.005Z "
	tests := map[string]struct {
		r    Record
		want string
	}{
		"an allowed call": {
			Record{noon, "box", Connect, HostPort("api.github.com", 443), Allowed, 0, 0, "", 0, false},
			at + "box connect api.github.com:443 allowed",
		},
		"one that ended": {
			Record{noon, "box", Connect, HostPort("api.github.com", 443), Ended, 1834, 20117, "", 0, false},
			at + "box connect api.github.com:443 ended 1834 out 20117 in",
		},
		"one that ended with nothing carried, was cut, and others were left out": {
			Record{noon, "box", TCP, HostPort("::1", 22), Ended, 0, 0, "the sandbox is paused", 880, false},
			at + "box tcp [::1]:22 ended 0 out 0 in (the sandbox is paused) (and 880 more ended since)",
		},
		"a refusal with its reason": {
			Record{noon, "box", DNS, NameTarget("denied.test"), Refused, 0, 0, "not an allowed endpoint", 0, false},
			at + "box dns denied.test refused (not an allowed endpoint)",
		},
		"a failure, others left out": {
			Record{noon, "box", Port, PortTarget(5432), Failed, 0, 0, "", 880, false},
			at + "box port 5432 failed (and 880 more failed since)",
		},
		"bytes only stand where a call ended": {
			Record{noon, "box", HTTP, NameTarget("a"), Allowed, 3, 4, "", 0, true},
			at + "box http a allowed",
		},
		"nothing at all": {Record{}, "0001-01-01T00:00:00.000Z - unknown - failed"},
		"a verb, an outcome and a name of somebody's own": {
			Record{noon, "x\ny connect z allowed", "connect a", Target{}, "allowed\n", 0, 0, "", 0, false},
			at + "x_y_connect_z_allowed unknown - failed",
		},
		"a reason that would end its parentheses and go on": {
			Record{noon, "box", TCP, NameTarget("a"), Refused, 0, 0, "x) (and 5 more refused since", 0, false},
			at + "box tcp a refused (x] [and 5 more refused since)",
		},
		"a reason that looks like a count": {
			Record{noon, "box", TCP, NameTarget("a"), Refused, 0, 0, "and 5 more refused since", 0, false},
			at + "box tcp a refused (…and 5 more refused since)",
		},
		"a reason of two lines, with a control": {
			Record{noon, "box", TCP, NameTarget("a"), Refused, 0, 0, " x \r\n\t y\x1b[2J ", 0, false},
			at + `box tcp a refused (x y\x1b[2J)`,
		},
		"negative counts are none": {
			Record{noon, "box", TCP, NameTarget("a"), Ended, -1, math.MinInt64, "", -3, false},
			at + "box tcp a ended 0 out 0 in",
		},
		"the largest counts": {
			Record{noon, "box", TCP, NameTarget("a"), Ended, math.MaxInt64, math.MaxInt64, "", math.MaxInt, false},
			at + "box tcp a ended 9223372036854775807 out 9223372036854775807 in (and 9223372036854775807 more ended since)",
		},
		"a time elsewhere is written in UTC, cut to milliseconds": {
			Record{noon.Add(999_999).In(time.FixedZone("", 3600)), "box", TCP, NameTarget("a"), Allowed, 0, 0, "", 0, false},
			at + "box tcp a allowed",
		},
		"a year of five digits": {
			Record{time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC), "box", TCP, NameTarget("a"), Allowed, 0, 0, "", 0, false},
			"9999-12-31T23:59:59.999Z box tcp a allowed",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Format(tt.r); got != tt.want+"\n" {
				t.Fatalf("got  %q\nwant %q", got, tt.want)
			}
			roundTrip(t, tt.r)
		})
	}
}

// roundTrip: one line, and reading it gives the record again.
func roundTrip(t *testing.T, r Record) {
	t.Helper()
	line := Format(r)
	if strings.Count(line, "\n") != 1 || len(line) > maxLine {
		t.Errorf("not one line: %q", line)
	}
	back, err := Parse(line)
	if err != nil || back != r.normal() {
		t.Fatalf("%q is read as\n%+v, %v; want\n%+v", line, back, err, r.normal())
	}
	if again := Format(back); again != line {
		t.Errorf("%q is written as %q", line, again)
	}
	if Clean(line[:len(line)-1]) != line[:len(line)-1] && len(line) < 900 {
		t.Errorf("a viewer would change %q", line)
	}
}

func TestParseTakesNothingElse(t *testing.T) {
	at := "2026-11-30T12:00:00.005Z "
	for name, line := range map[string]string{
		"nothing":                       "",
		"a time alone":                  at,
		"no milliseconds":               "2026-11-30T12:00:00Z box tcp a allowed",
		"an offset":                     "2026-11-30T12:00:00+01:00 box tcp a allowed",
		"a 32nd of the month":           "2026-12-32T12:00:00.005Z box tcp a allowed",
		"a space for the T":             "2026-11-30 12:00:00.005Z box tcp a allowed",
		"two spaces":                    at + " box tcp a allowed",
		"a space first":                 " " + at + "box tcp a allowed",
		"a space at the end":            at + "box tcp a allowed ",
		"a newline within":              at + "box tcp a allowed\n\n",
		"a carriage return":             at + "box tcp a allowed\r\n",
		"an unknown verb":               at + "box ftp a allowed",
		"an unknown outcome":            at + "box tcp a permitted",
		"no outcome":                    at + "box tcp a",
		"an invalid name":               at + "b/x tcp a allowed",
		"an over-long name":             at + strings.Repeat("b", 65) + " tcp a allowed",
		"a quote in the target":         at + `box tcp a" allowed`,
		"a letter beyond ASCII":         at + `box tcp é allowed`,
		"a target of 301 characters":    at + "box tcp " + strings.Repeat("a", 301) + " allowed",
		"a path":                        at + "box tcp a/b allowed",
		"an ended call without bytes":   at + "box tcp a ended",
		"bytes of an allowed call":      at + "box tcp a allowed 1 out 2 in",
		"bytes with a sign":             at + "box tcp a ended +1 out 2 in",
		"bytes with a leading zero":     at + "box tcp a ended 01 out 2 in",
		"more bytes than there are":     at + "box tcp a ended 9223372036854775808 out 2 in",
		"an empty reason":               at + "box tcp a refused ()",
		"a reason that isn't closed":    at + "box tcp a refused (x",
		"a reason that isn't opened":    at + "box tcp a refused x)",
		"a count of another outcome":    at + "box tcp a refused (x) (and 5 more failed since)",
		"a count of none":               at + "box tcp a refused (x) (and 0 more refused since)",
		"a count before the reason":     at + "box tcp a refused (and 5 more refused since) (x)",
		"two counts":                    at + "box tcp a refused (and 5 more refused since) (and 5 more refused since)",
		"something behind":              at + "box tcp a refused (x) y",
		"a reason with a space at ends": at + "box tcp a refused ( x )",
		"a reason with two spaces":      at + "box tcp a refused (x  y)",
		"a control in the reason":       at + "box tcp a refused (x\x1by)",
	} {
		if r, err := Parse(line); err == nil {
			t.Errorf("%s: %q is read as %+v", name, line, r)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(int64(1e18), "box", "tcp", "a.test", uint16(1), "refused", int64(1), int64(2), "why", 3)
	f.Add(int64(-1), "-", "", "\xff", uint16(0), "", int64(-1), int64(0), "and 1 more failed since", -1)
	f.Add(int64(0), "a b", "pause", "…", uint16(443), "ended", int64(0), int64(0), ") (", 1)
	f.Fuzz(func(t *testing.T, ns int64, name, verb, host string, port uint16, outcome string, out, in int64, reason string, more int) {
		r := Record{time.Unix(0, ns), settings.Name(name), Verb(verb), HostPort(host, port), Outcome(outcome), out, in, reason, more, true}
		roundTrip(t, r)
		r.Target, r.Time = NameTarget(host), time.Unix(ns, ns)
		roundTrip(t, r)
		for i, v := range verbs {
			r.Verb, r.Outcome = v, outcomes[i%len(outcomes)]
			roundTrip(t, r)
		}
	})
}

// What Parse takes, Format gives again: there is one line for a record, so a line that means something else than it
// shows can't be.
func FuzzParse(f *testing.F) {
	at := "2026-11-30T12:00:00.005Z "
	f.Add(at + "box connect a:443 ended 1 out 2 in (x) (and 3 more ended since)\n")
	f.Add(at + "- unknown - failed (… and 3 more failed since)")
	f.Add(at + "box dns a\\x20b… refused (and 5 more refused since)")
	f.Fuzz(func(t *testing.T, line string) {
		r, err := Parse(line)
		if err != nil {
			return
		}
		if got := Format(r); got != strings.TrimSuffix(line, "\n")+"\n" {
			t.Errorf("%q is written as %q", line, got)
		}
	})
}

func TestJSON(t *testing.T) {
	for want, v := range map[string]any{
		`{"time":"2026-11-30T12:00:00.005Z","name":"box","verb":"connect","target":"a:443","outcome":"allowed"}`://
		Record{Time: noon, Sandbox: "box", Verb: Connect, Target: HostPort("a", 443), Outcome: Allowed, Out: 5},
		`{"time":"2026-11-30T12:00:00.005Z","name":"box","verb":"tcp","target":"a:22","outcome":"ended","out":0,"in":7}`://
		Record{Time: noon, Sandbox: "box", Verb: TCP, Target: HostPort("a", 22), Outcome: Ended, In: 7},
		`{"time":"2026-11-30T12:00:00.005Z","name":"","verb":"unknown","target":"-","outcome":"refused","reason":"malformed","more":3}`://
		Record{Time: noon, Outcome: Refused, Reason: "malformed", More: 3},
		`{"unreadable":"\\x1b"}`: unreadable("\x1b", errTorn),
		`{"time":"2026-11-30T12:00:00.005Z","name":"","verb":"dns","target":"a","outcome":"allowed"}`://
		Line{Record: Record{Time: noon, Verb: DNS, Target: NameTarget("a"), Outcome: Allowed}},
	} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
}

// The policy's sentences are what records hold; this package knows some of them, and its lines must hold all of them.
func TestReasonsOfThePolicy(t *testing.T) {
	for _, r := range []policy.Reason{
		policy.ReasonStopped, policy.ReasonPaused, policy.ReasonUnreadable, policy.ReasonOverLimit, policy.ReasonLogUnwritable,
	} {
		if !quiet[string(r)] {
			t.Errorf("%q is written more than once a minute", r)
		}
	}
	if len(quiet) != 5 {
		t.Errorf("%d quiet reasons", len(quiet))
	}
	for _, r := range policy.Reasons() {
		if got := normalReason(string(r), Refused); got != string(r) {
			t.Errorf("%q is written %q", r, got)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	line := Format(Record{Time: noon, Sandbox: "build", Verb: Connect, Target: HostPort("api.github.com", 443), Outcome: Ended, Out: 1834, In: 20117})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}
