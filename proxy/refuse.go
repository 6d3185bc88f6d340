package proxy

import "lnk/policy"

// refuse refuses a connection as a whole. It listens to the client for a moment: an HTTP client hears why, in words; any other
// is reset.
func (f *flow) refuse(d policy.Decision) {
	g := f.sniff(f.wire.Limits.Words, f.wire.Limits.Words)
	if g.protocol == httpText {
		f.serveHTTP(g, nil)
		return
	}
	shown := policy.Host{}
	if len(f.names) == 0 && f.barred == "" {
		shown = g.shown // a bare literal is named by what it shows
	}
	f.refuseCall(f.call(f.verb(), shown), d, g)
}

// refuseCall writes a refused call's line, counts what it sent, and ends the flow: a TLS client hears why, where the sandbox has an authority;
// any other is reset.
func (f *flow) refuseCall(c *call, d policy.Decision, g greeting) {
	c.refuse(d)
	f.wire.Counter.Add(int64(len(g.bytes)), 0)
	if g.protocol == tlsHello && f.wire.refusals != nil && !g.late {
		f.dropUpstream()
		f.answerTLS(c, d, g)
	}
	f.end(d)
}

// dropUpstream ends what was dialled for a flow that was refused since, and lets nothing be dialled for it any more.
func (f *flow) dropUpstream() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = true
	for c := range f.conns {
		reset(c)
	}
}

// cutOff ends the flow because its client is gone.
func (f *flow) cutOff() { f.end(policy.Decision{Reason: policy.ReasonClientGone}) }
