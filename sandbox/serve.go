package sandbox

import (
	"context"
	"fmt"
	"math"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lnk/control"
	"lnk/dnsproxy"
	"lnk/netns"
	"lnk/proxy"
	"lnk/wirelog"
)

// gateLook is how often the gate is looked at while the run goes on, so that what is open ends well within a second of a
// stop or a pause. Each call looks for itself besides.
const gateLook = 250 * time.Millisecond

// service is what serves a room while its program runs.
type service struct {
	run      *run
	log      *wirelog.Log
	resolver *dnsproxy.Resolver
	traffic  *wirelog.Traffic
	wire     *proxy.Wire
	names    *dnsproxy.Server
	cancel   context.CancelFunc
	serving  sync.WaitGroup
	mu       sync.Mutex
	failed   error
}

// serve opens the log and starts the wire, the names, the counters and the looking at gate and spec.
func (r *run) serve(room *netns.Room) (*service, error) {
	s := &service{run: r}
	if err := s.make(); err != nil {
		closeAll(room)
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.start("the wire", func() error {
		return s.wire.Serve(ctx, proxy.Listeners{Redirected: room.Wire, Ports: room.Ports})
	})
	s.start("the name server", func() error { return s.names.Serve(ctx, packets(room.DNSUDP), streams(room.DNSTCP)) })
	s.serving.Go(func() { s.traffic.Run(ctx) })
	s.serving.Go(func() { r.gate.Watch(ctx, gateLook, s.gateChanged) })
	if r.source.ours {
		s.serving.Go(func() { r.source.follow(ctx, specLook, s.specChanged) })
	}
	return s, nil
}

// make makes the parts, from the log to the wire, without starting any.
func (s *service) make() (err error) {
	r := s.run
	if r.gate, err = control.NewGate(r.home, r.name); err != nil {
		return err
	}
	if s.log, err = wirelog.Open(r.home.Log(), wirelog.Options{Sandbox: r.name, Notice: s.sayLogTrouble}); err != nil {
		return err
	}
	s.traffic = wirelog.NewTraffic(r.home, r.name)
	s.resolver = dnsproxy.NewResolver(dnsproxy.ResolverConfig{})
	if err = s.connect(); err != nil {
		s.resolver.Close()
		s.log.Close()
	}
	return err
}

// connect makes what judges calls and lookups, of the parts that are there.
func (s *service) connect() (err error) {
	r, book, gate := s.run, dnsproxy.NewBook(0), gate{files: s.run.gate}
	if r.spec.LogRequired() {
		gate.required = s.log
	}
	watch, err := newWatch(s)
	if err != nil {
		return err
	}
	if s.names, err = dnsproxy.New(dnsproxy.Config{
		Rules: r.rules.get, Gate: gate, Book: book, Resolver: s.resolver, Log: s.log, Watch: lookupWatch{watch},
		NotDNS: func(c net.Conn) { s.wire.NotDNS(c) },
	}); err != nil {
		return err
	}
	s.wire, err = proxy.New(proxy.Config{
		Rules: r.rules.get, Gate: gate, Book: book, Resolver: s.resolver, Log: s.log, Counter: s.traffic,
		Sandbox: string(r.name), Watch: callWatch{watch}, Authority: r.authority, Original: netns.OriginalDestination, MaxFlows: r.spec.MaxCalls(), MaxOpen: maxOpen(),
	})
	return err
}

// start runs one of the servers until the run ends. A server that ends before it leaves the room without what it served: nothing can be
// called any more, and the program is ended rather than left to wait.
func (s *service) start(what string, serve func() error) {
	s.serving.Go(func() {
		if err := serve(); err != nil {
			s.mu.Lock()
			s.failed = fmt.Errorf("serving the sandbox: %s: %w", what, err)
			s.mu.Unlock()
			s.run.launch.Close()
		}
	})
}

// failure is why a server ended by itself; nil where none did.
func (s *service) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// gateChanged ends what is open when the gate closes.
func (s *service) gateChanged(state control.State) {
	if !state.Open() {
		s.wire.End(verdict(state))
	}
}

// end ends it all, in order: open calls are logged as ended, with what they carried, before the log is closed.
func (s *service) end() {
	s.cancel()
	s.serving.Wait()
	s.resolver.Close()
	if err := s.log.Close(); err != nil {
		s.run.tell(LogTrouble{err.Error()})
	}
}

// Descriptors that a run needs beside its calls: its own, and a share of them all for pipes and lookups. A call needs two, its sockets.
const (
	ownDescriptors  = 24
	sharedPart      = 8 // one in eight
	callDescriptors = 2
)

// maxOpen bounds the open calls of all listeners by the descriptors that this process may have, so that the program can't use them up.
func maxOpen() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1
	}
	return callsWithin(limit.Cur)
}

func callsWithin(descriptors uint64) int {
	left := descriptors - descriptors/sharedPart
	if left <= ownDescriptors+callDescriptors {
		return 1
	}
	return int(min((left-ownDescriptors)/callDescriptors, math.MaxInt32))
}

func packets(in []*net.UDPConn) (out []net.PacketConn) {
	for _, c := range in {
		out = append(out, c)
	}
	return out
}

func streams(in []*net.TCPListener) (out []net.Listener) {
	for _, l := range in {
		out = append(out, l)
	}
	return out
}
