package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lnk/wirelog"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 7e6, time.UTC)

func TestPage(t *testing.T) {
	api := wirelog.HostPort("api.example.org", 443)
	tests := map[string]struct {
		line wirelog.Line
		want string
	}{
		"an allowed call": {
			wirelog.Line{Record: wirelog.Record{Time: noon, Sandbox: "build", Verb: wirelog.Connect, Target: api, Outcome: wirelog.Allowed}},
			"2026-11-30T12:00:00.007Z build      connect api.example.org:443          allowed\n"},
		"its end": {
			wirelog.Line{Record: wirelog.Record{Time: noon, Sandbox: "build", Verb: wirelog.Connect, Target: api, Outcome: wirelog.Ended, Out: 517, In: 5120}},
			"2026-11-30T12:00:00.007Z build      connect api.example.org:443          ended   517 out 5120 in\n"},
		"a refusal, and others that were left out": {
			wirelog.Line{Record: wirelog.Record{Time: noon, Sandbox: "b", Verb: wirelog.TCP, Target: api, Outcome: wirelog.Refused, Reason: "why", More: 3}},
			"2026-11-30T12:00:00.007Z b          tcp     api.example.org:443          refused (why) (and 3 more refused since)\n"},
		"a line that can't be read": {
			wirelog.Line{Text: "torn", Err: errors.New("torn")}, "?? torn\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := string(newPage(false).line(tt.line)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if got := string(newPage(true).line(tt.line)); strings.Contains(got, "\x1b[") != (tt.line.Err == nil) {
				t.Errorf("with colours %q", got)
			}
		})
	}
}

func TestPageColumnsWidenAndStay(t *testing.T) {
	p := newPage(false)
	long := wirelog.Record{Time: noon, Sandbox: "a-rather-long-name", Verb: wirelog.TCP, Target: wirelog.HostPort("a.rather.long.name.example.org", 22), Outcome: wirelog.Allowed}
	short := wirelog.Record{Time: noon, Sandbox: "b", Verb: wirelog.TCP, Target: wirelog.HostPort("c", 22), Outcome: wirelog.Allowed}
	first := string(p.line(wirelog.Line{Record: long}))
	second := string(p.line(wirelog.Line{Record: short}))
	if strings.Index(first, "allowed") != strings.Index(second, "allowed") {
		t.Errorf("the outcomes don't line up:\n%s%s", first, second)
	}
}

func TestParseSince(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	now := time.Date(2026, 11, 30, 14, 0, 0, 0, zone)
	tests := map[string]struct {
		text string
		want time.Time
	}{
		"minutes ago":                {"10m", now.Add(-10 * time.Minute)},
		"days ago":                   {"3d", now.Add(-72 * time.Hour)},
		"days and hours ago":         {"1d12h", now.Add(-36 * time.Hour)},
		"a time of today":            {"09:30", time.Date(2026, 11, 30, 9, 30, 0, 0, zone)},
		"a day":                      {"2026-11-29", time.Date(2026, 11, 29, 0, 0, 0, 0, zone)},
		"a day and a time":           {"2026-11-29 08:15", time.Date(2026, 11, 29, 8, 15, 0, 0, zone)},
		"as the log writes it":       {"2026-11-30T04:05:06.007Z", time.Date(2026, 11, 30, 4, 5, 6, 7e6, time.UTC)},
		"what is no time":            {"yesterday", time.Time{}},
		"a length below nothing":     {"-10m", time.Time{}},
		"a number without a unit":    {"10", time.Time{}},
		"more days than there are":   {"99999999999d", time.Time{}},
		"days below nothing":         {"-1d", time.Time{}},
		"days and less than nothing": {"1d-12h", time.Time{}},
		"nothing":                    {"", time.Time{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseSince(tt.text, now)
			if !got.Equal(tt.want) || (err != nil) != tt.want.IsZero() {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain text stays":               {"connect a.example.org: refused", "connect a.example.org: refused"},
		"two lines become one":           {"a\nb\n", "a b"},
		"an escape is shown, not obeyed": {"a\x1b[2Jb", "a�[2Jb"},
		"so is a turn of direction":      {"a\u202eb\u2066c", "a�b�c"},
		"and a C1 control":               {"a\u009bb", "a�b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := oneLine(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSizesAndAges(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 30: "5.0 GiB", 2 << 50: "2048.0 TiB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m01s", 2*time.Hour + 5*time.Minute: "2h05m", 50 * time.Hour: "2d02h",
	} {
		if got := age(d); got != want {
			t.Errorf("age(%s) = %q, want %q", d, got, want)
		}
	}
}
