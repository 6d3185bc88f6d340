package wirelog

import (
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
	Browser    Verb = "browser"     // a web page's request, refused: once a minute at most
	Pause      Verb = "pause"       // a sandbox paused or resumed
	Unknown    Verb = "unknown"     // what can't be read as any of these
)

// Outcome is what a call came to. The zero value is written as Failed.
type Outcome string

// The outcomes. Every call has one of Allowed, Refused and Failed; an allowed one has an Ended as well.
const (
	Allowed Outcome = "allowed"
	Ended   Outcome = "ended"
	Refused Outcome = "refused"
	Failed  Outcome = "failed"
)

// Record is one line of the log. It has no place for a path, a header or a body.
type Record struct {
	Time    time.Time     // zero: now
	Sandbox settings.Name // empty: Options.Sandbox
	Verb    Verb
	Target  Target
	Outcome Outcome
	Out, In int64  // bytes from the sandbox to upstream, and back; only written with Ended
	Reason  string // one of a closed list of sentences; empty: none
	More    int    // how many of this outcome were left out since its last line; Write sets it
	Always  bool   // never left out: a metadata call, a pause; not written in the line
}
