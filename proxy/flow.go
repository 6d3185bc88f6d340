package proxy

import (
	"context"
	"net"
	"net/netip"
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

	to      netip.AddrPort // the original destination
	names   []policy.Name  // the names that address was given for, in this sandbox
	refusal bool           // the address is a refusal address: it stands for its name and is never dialled
	machine bool           // the way to this machine's own ports
	barred  policy.Reason  // why nothing on this flow can be allowed, whatever it shows; empty where something can
	label   string         // what the flow is called in the log where it shows no name

	mu    sync.Mutex
	conns map[net.Conn]struct{} // upstream connections
	calls map[*call]struct{}    // calls without an end yet
	cut   *policy.Decision      // why the flow was ended from outside, if it was
}

// newFlow registers a connection before anything is checked.
func (w *Wire) newFlow(ctx context.Context, client *net.TCPConn) *flow {
	f := &flow{wire: w, client: client, conns: map[net.Conn]struct{}{}, calls: map[*call]struct{}{}}
	f.ctx, f.cancel = context.WithCancel(ctx)
	w.flows.add(f)
	return f
}

// destined fills in where the flow goes. Where that can't be read, or is the wire itself, the flow is barred.
func (f *flow) destined() {
	f.label = "unknown"
	to, err := f.wire.Original(f.client)
	if err != nil {
		f.barred = policy.ReasonNoOriginal
		return
	}
	f.to = netip.AddrPortFrom(policy.Unwrap(to.Addr().WithZone("")), to.Port())
	f.label = f.to.Addr().String()
	f.machine = f.to.Addr() == policy.MachineAddr
	f.refusal = policy.IsRefusalAddr(f.to.Addr())
	if f.names = f.wire.Book.Names(f.to.Addr()); len(f.names) > 0 {
		f.label = f.names[0].String()
	}
	own, ok := f.client.LocalAddr().(*net.TCPAddr)
	inRoom := policy.RefusalPrefix4.Contains(f.to.Addr()) && !f.refusal && !f.machine
	if !ok || own.AddrPort() == to || inRoom {
		f.barred = policy.ReasonSelf // the listener itself, or an address of the room that has no door
	}
}

// atPort sets the flow's destination to a port of this machine.
func (f *flow) atPort(port uint16) {
	f.machine, f.to = true, netip.AddrPortFrom(policy.MachineAddr, port)
	f.label = f.to.Addr().String()
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

// close ends the flow from inside: whatever is still open is closed, each call gets its last line, and the flow leaves
// the registry.
func (f *flow) close() {
	f.cancel()
	f.mu.Lock()
	conns, calls := f.conns, f.calls
	f.conns, f.calls = map[net.Conn]struct{}{}, map[*call]struct{}{}
	f.mu.Unlock()
	for c := range conns {
		c.Close()
	}
	f.client.Close()
	for c := range calls {
		c.close()
	}
	f.wire.flows.remove(f)
}

// attach makes an upstream connection part of the flow, so that the flow's end ends it; it reports false, and closes it, where the flow has ended.
func (f *flow) attach(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut != nil || f.ctx.Err() != nil {
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

// call opens a call on the flow. target is what it asks for, shown the host it shows (zero where it shows none).
func (f *flow) call(verb wirelog.Verb, shown policy.Host) *call {
	c := &call{flow: f, verb: verb, shown: shown}
	c.name(shown)
	f.mu.Lock()
	f.calls[c] = struct{}{}
	f.mu.Unlock()
	return c
}

// recheck judges the flow's open calls again and ends the flow where one of them is now refused.
func (f *flow) recheck() {
	f.mu.Lock()
	calls := make([]*call, 0, len(f.calls))
	for c := range f.calls {
		calls = append(calls, c)
	}
	f.mu.Unlock()
	for _, c := range calls {
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
