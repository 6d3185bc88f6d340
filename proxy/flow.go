package proxy

import (
	"context"
	"net"
	"sync"

	"lnk/policy"
	"lnk/wirelog"
)

// flow is one accepted connection: where it was going, under which names, and what is open on it.
type flow struct {
	wire   *Wire
	client *net.TCPConn
	ctx    context.Context // ends with the flow
	cancel context.CancelFunc
	over   bool // came when its listener's limit was reached

	destination
	pre []byte // client bytes that were read already: behind a CONNECT, say

	running sync.WaitGroup // the goroutines of the flow beside its own

	mu      sync.Mutex
	conns   map[net.Conn]struct{} // upstream connections
	calls   map[*call]struct{}    // calls without an end yet
	cut     *policy.Decision      // why the flow was ended, if it was
	refused bool                  // nothing may be dialled for it any more
}

// newFlow registers a connection before anything is checked.
func (w *Wire) newFlow(ctx context.Context, client *net.TCPConn) *flow {
	f := &flow{wire: w, client: client, conns: map[net.Conn]struct{}{}, calls: map[*call]struct{}{}}
	f.ctx, f.cancel = context.WithCancel(ctx)
	w.flows.add(f)
	return f
}

// destined fills in where the flow goes. Where that can't be read, or is the wire itself, it is barred.
func (f *flow) destined() {
	to, err := f.wire.Original(f.client)
	if err != nil {
		f.destination = unreadable()
		return
	}
	f.destination = f.wire.redirected(to)
	if own, ok := f.client.LocalAddr().(*net.TCPAddr); !ok || own.AddrPort() == to {
		f.barred = policy.ReasonSelf
	}
}

// end cuts the flow from outside: both sides are reset, and its calls end with d's reason. Only the first counts.
func (f *flow) end(d policy.Decision) {
	f.mu.Lock()
	if f.cut != nil {
		f.mu.Unlock()
		return
	}
	f.cut = &d
	conns := make([]net.Conn, 0, len(f.conns))
	for c := range f.conns {
		conns = append(conns, c)
	}
	f.mu.Unlock()
	f.cancel()
	reset(f.client)
	for _, c := range conns {
		reset(c)
	}
}

// cutBy is the reason why the flow was ended from outside; empty where it wasn't.
func (f *flow) cutBy() policy.Reason {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut == nil {
		return ""
	}
	return f.cut.Reason
}

// close ends the flow from inside: whatever is still open is closed, what runs for it is waited for, each call gets its last line, and
// the flow leaves the registry.
func (f *flow) close() {
	f.cancel()
	f.mu.Lock()
	conns := f.conns
	f.conns = map[net.Conn]struct{}{}
	f.mu.Unlock()
	for c := range conns {
		c.Close()
	}
	f.client.Close()
	f.running.Wait()
	for _, c := range f.open() {
		c.close()
	}
	f.wire.flows.remove(f)
}

// open is the calls without an end yet.
func (f *flow) open() []*call {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := make([]*call, 0, len(f.calls))
	for c := range f.calls {
		calls = append(calls, c)
	}
	return calls
}

// attach makes an upstream connection part of the flow, so that the flow's end ends it; it reports false, and closes it, where the flow has ended.
func (f *flow) attach(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut != nil || f.refused || f.ctx.Err() != nil {
		reset(c)
		return false
	}
	f.conns[c] = struct{}{}
	return true
}

// detach forgets an upstream connection that was closed.
func (f *flow) detach(c net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, c)
}

// call opens a call on the flow, to where the flow goes. shown is the host that it shows, zero where it shows none.
func (f *flow) call(verb wirelog.Verb, shown policy.Host) *call {
	return f.callTo(&f.destination, verb, shown)
}

// callTo opens a call on the flow to a destination of its own.
func (f *flow) callTo(where *destination, verb wirelog.Verb, shown policy.Host) *call {
	c := &call{flow: f, where: where, verb: verb, shown: shown}
	c.name(shown)
	f.mu.Lock()
	f.calls[c] = struct{}{}
	f.mu.Unlock()
	return c
}

// recheck judges the flow's open calls again and ends the flow where one of them is now refused.
func (f *flow) recheck() {
	for _, c := range f.open() {
		if d := c.judgeAgain(); !d.Allowed {
			f.end(d)
			return
		}
	}
}

// reset closes a connection with a RST where it is TCP, so that the peer can't take the end for a proper one.
func reset(c net.Conn) {
	if t, ok := c.(interface{ SetLinger(int) error }); ok {
		t.SetLinger(0)
	}
	c.Close()
}
