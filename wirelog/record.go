package wirelog

import (
	"slices"
	"strings"
	"time"

	"lnk/settings"
)

// Verb is what kind of call a line is about. One that isn't in this list is written as Unknown.
type Verb string

// The verbs.
const (
	Connect    Verb = "connect"     // port 443
	TCP        Verb = "tcp"         // any other port
	HTTP       Verb = "http"        // one plain HTTP request
	MCP        Verb = "mcp"         // a tool's call
	Model      Verb = "model"       // a hosted model
	LocalModel Verb = "local-model" // a model on this machine
	Secret     Verb = "secret"      // a service's call, its secret added
	Port       Verb = "port"        // this machine's port
	DNS        Verb = "dns"         // a name looked up
	Page       Verb = "open"        // a page in the user's browser
	Callback   Verb = "callback"    // a login's answer let in
	Browser    Verb = "browser"     // a web page's request; refusals of these are written once a minute at most
	Pause      Verb = "pause"       // a sandbox paused or resumed
	Unknown    Verb = "unknown"     // what can't be read as any of these
)

var verbs = []Verb{
	Connect, TCP, HTTP, MCP, Model, LocalModel, Secret, Port, DNS, Page, Callback, Browser, Pause, Unknown,
}

// Verbs is the whole list.
func Verbs() []Verb { return slices.Clone(verbs) }

// Outcome is what a call came to. One that isn't in this list is written as Failed.
type Outcome string

// The outcomes. Every call has one of Allowed, Refused and Failed; an allowed one has an Ended as well.
const (
	Allowed Outcome = "allowed"
	Ended   Outcome = "ended"
	Refused Outcome = "refused"
	Failed  Outcome = "failed"
)

var outcomes = []Outcome{Allowed, Ended, Refused, Failed}

// Outcomes is the whole list.
func Outcomes() []Outcome { return slices.Clone(outcomes) }

// Record is one line of the log. It has no place for a path, a header or a body.
type Record struct {
	Time    time.Time     // written in UTC, to the millisecond; zero: when it is written
	Sandbox settings.Name // empty: Options.Sandbox
	Verb    Verb
	Target  Target
	Outcome Outcome
	Out, In int64  // bytes from the sandbox to upstream, and back; they only count with Ended
	Reason  string // one of a closed list of sentences; empty: none
	More    int    // how many of this outcome were left out since its last line; Write adds to it
	Always  bool   // never left out (a metadata call, a pause); it doesn't stand in the line
}

const maxReason = 300

// normal is the record that reading its line gives. A record is made normal before it is written, so a line is right
// whatever the fields hold.
func (r Record) normal() Record {
	r.Time = normalTime(r.Time)
	r.Sandbox = normalName(r.Sandbox)
	if !slices.Contains(verbs, r.Verb) {
		r.Verb = Unknown
	}
	if !slices.Contains(outcomes, r.Outcome) {
		r.Outcome = Failed
	}
	if r.Outcome != Ended {
		r.Out, r.In = 0, 0
	}
	r.Out, r.In, r.More = max(r.Out, 0), max(r.In, 0), max(r.More, 0)
	r.Reason = normalReason(r.Reason, r.Outcome)
	r.Always = false
	return r
}

var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
)

// normalTime keeps the year at four digits: the width of a line's first field never changes.
func normalTime(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	if t.Before(firstTime) {
		return firstTime
	}
	if t.After(lastTime) {
		return lastTime
	}
	return t
}

// normalName is the name itself where ParseName made it. Others could only come from a slip in the program: they keep
// the characters that a name may have, and "-", which stands for none, is none.
func normalName(n settings.Name) settings.Name {
	if n.Valid() || n == "" {
		return n
	}
	b := []byte(n[:min(len(n), settings.MaxName)])
	for i, c := range b {
		if !inName[c] {
			b[i] = '_'
		}
	}
	if string(b) == "-" {
		return ""
	}
	return settings.Name(b)
}

var inName = func() (set [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") {
		set[c] = true
	}
	return set
}()

// normalReason keeps a reason within its parentheses, and apart from what a line says of those left out.
func normalReason(s string, o Outcome) string {
	if spaced := strings.TrimSpace(s) != s || strings.Contains(s, "  "); spaced || !plain(s, inReason) || len(s) > maxReason {
		s = brackets.Replace(strings.Join(strings.Fields(s), " "))
		s = clean(s, inReason, maxReason)
	}
	if _, is := parseMore(s, o); is {
		return mark + s
	}
	return s
}

var brackets = strings.NewReplacer("(", "[", ")", "]")
