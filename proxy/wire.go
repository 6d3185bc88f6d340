package proxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lnk/policy"
	"lnk/wirelog"
)

// Gate says whether calls may pass now. It is asked for each call, so it must be quick; anything but a decision that
// allows is a refusal, with its reason.
type Gate interface{ Check() policy.Decision }

// Book knows which names this sandbox was given an address for.
type Book interface {
	// Names are the names that addr was given for, or the one name that a refusal address stands for.
	Names(addr netip.Addr) []policy.Name
}

// Resolver asks the machine's own resolver for all addresses of a name, IPv6 and IPv4, in the order to try them.
type Resolver interface {
	Resolve(ctx context.Context, name policy.Name) ([]netip.Addr, error)
}

// Log takes the records of calls.
type Log interface{ Write(wirelog.Record) error }

// Counter adds up what the wire carried, in bytes: out from the sandbox, in to it.
type Counter interface{ Add(out, in int64) }

// Watch hears of refusals, which may pause the sandbox.
type Watch interface {
	// Refused is told of a refused call to host at port.
	Refused(host string, port uint16)
	// Metadata is told of a call to a cloud's metadata service: canonical is the service's own address or name, shown is how the call wrote it.
	Metadata(canonical, shown string)
}

// Config is what a Wire is made of. Every field without "may be" is needed.
type Config struct {
	Sandbox  string              // its name, for the words of a refusal; may be empty
	Rules    func() policy.Rules // the rules now; asked for each call, since they can change
	Gate     Gate
	Book     Book
	Resolver Resolver
	Log      Log
	Counter  Counter
	Watch    Watch

	// Authority signs the answers to refused TLS calls; may be nil: they are reset.
	Authority *Authority
	// Original reads a connection's destination before the redirect. An error means that nobody knows, and the call is refused.
	Original func(*net.TCPConn) (netip.AddrPort, error)
	// Local reports whether an address is this machine's; may be nil for the kernel's word (its routing table).
	Local func(netip.Addr) bool
	// Connect makes a connection to a literal, after asking check about it; may be nil for a TCP connection of this machine's.
	Connect func(ctx context.Context, to netip.AddrPort, check func(netip.AddrPort) error) (*net.TCPConn, error)
	// MaxFlows bounds the open flows of each listener; over it flows are refused. May be 0 for DefaultMaxFlows.
	MaxFlows int
	// MaxOpen bounds the open flows of all listeners together, by the descriptors that there are. May be 0: nothing but MaxFlows bounds them.
	MaxOpen int
	// Limits are the wire's times; may be zero for DefaultLimits.
	Limits Limits
}

// DefaultMaxFlows is how many flows a listener holds open, unless the settings say otherwise.
const DefaultMaxFlows = 16384

// Limits are the times that bound what a client and an upstream may keep the wire waiting for.
type Limits struct {
	// Hello bounds the first client bytes from the first of them to the last that a verdict needs (a slow ClientHello).
	Hello time.Duration
	// FirstByte is how long a bare literal, which only a shown name could allow, may stay silent.
	FirstByte time.Duration
	// Words is how long a refused client is listened to, to tell whether it can be answered in words.
	Words time.Duration
	// Quiet is how long an allowed flow stays out of the log while neither side says a thing.
	Quiet time.Duration
	// Dial bounds all attempts to reach one call's upstream.
	Dial time.Duration
	// Stagger is the time between two attempts (RFC 8305 section 5: 250 ms).
	Stagger time.Duration
}

// DefaultLimits are the times of a sandbox's wire.
var DefaultLimits = Limits{
	Hello:     30 * time.Second,
	FirstByte: 10 * time.Second,
	Words:     250 * time.Millisecond,
	Quiet:     time.Second,
	Dial:      30 * time.Second,
	Stagger:   250 * time.Millisecond,
}

// Wire judges and carries the calls of one sandbox.
type Wire struct {
	Config
	flows    registry
	dialer   dialer
	pipes    pipePool
	http     *http.Server // serves flows that speak HTTP, handed over by plain
	plain    *handoff
	refusals *http.Server // answers refused TLS calls, handed over by secure; nil without an authority
	secure   *handoff
}

// New makes a wire; it listens to nothing yet.
func New(c Config) (*Wire, error) {
	if c.Rules == nil || c.Gate == nil || c.Book == nil || c.Resolver == nil || c.Log == nil || c.Counter == nil || c.Watch == nil || c.Original == nil {
		return nil, errors.New("making the wire: a part is missing")
	}
	if c.Local == nil {
		c.Local = localAddress
	}
	if c.Connect == nil {
		c.Connect = connectLiteral
	}
	if c.MaxFlows <= 0 {
		c.MaxFlows = DefaultMaxFlows
	}
	if c.Limits == (Limits{}) {
		c.Limits = DefaultLimits
	}
	w := &Wire{Config: c}
	w.dialer = dialer{resolver: c.Resolver, local: c.Local, rules: c.Rules, limits: c.Limits, connect: c.Connect}
	w.http, w.plain = newHTTPFront()
	if c.Authority != nil {
		w.refusals, w.secure = newRefusalFront(c.Authority)
	}
	return w, nil
}

// Listeners are the doors of a wire. Any of them may be empty.
type Listeners struct {
	Redirected []*net.TCPListener            // every TCP connection that leaves the sandbox arrives here
	Ports      map[uint16][]*net.TCPListener // the sandbox's localhost:PORT, for this machine's ports
}

// Serve accepts on every listener until ctx ends, then ends what is open and returns when every flow is gone and logged.
// The listeners are closed.
func (w *Wire) Serve(ctx context.Context, doors Listeners) error {
	var loops sync.WaitGroup
	serve := func(l *net.TCPListener, handle func(*flow)) {
		loops.Go(func() { w.accept(ctx, l, handle) })
	}
	for _, l := range doors.Redirected {
		serve(l, w.handleRedirected)
	}
	for port, ls := range doors.Ports {
		for _, l := range ls {
			serve(l, func(f *flow) { w.handlePort(f, port) })
		}
	}
	var fronts errgroup.Group
	fronts.Go(func() error { return served(w.http, w.plain) })
	if w.refusals != nil {
		fronts.Go(func() error { return served(w.refusals, w.secure) })
	}
	<-ctx.Done()
	w.flows.endAll(policy.Decision{Reason: policy.ReasonProgramEnded})
	loops.Wait()
	w.flows.wait()
	w.http.Close()
	if w.refusals != nil {
		w.refusals.Close()
	}
	defer w.pipes.close()
	return fronts.Wait()
}

// served serves a front until it is closed.
func served(s *http.Server, l net.Listener) error {
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// End ends every open flow, and with it every open call, for the reason of d: the gate has closed.
func (w *Wire) End(d policy.Decision) { w.flows.endAll(d) }

// Recheck judges every open call again, after the rules have changed, and ends the flows of those that are now refused.
func (w *Wire) Recheck() { w.flows.each(func(f *flow) { f.recheck() }) }

// Open is the number of flows that are open.
func (w *Wire) Open() int { return w.flows.len() }
