package dnsproxy

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"lnk/policy"
	"lnk/wirelog"
)

// Gate says whether anything may pass now; anything but a decision that allows is a refusal, with its reason. It is asked for
// each query, so it must be quick.
type Gate interface{ Check() policy.Decision }

// Log takes the lines of lookups. A line that it can't write is its own to count and to tell of; whether lookups go on meanwhile is the
// gate's to say.
type Log interface{ Write(wirelog.Record) error }

// Watch is told of lookups that the rules refuse.
type Watch interface {
	// Refused is told of a name once for its A, AAAA and HTTPS together. It isn't told what the gate refuses. A metadata service's name is
	// told like any other: it is the call that follows that pauses.
	Refused(name string)
}

// Config is what a Server is made of. All of it is needed, but where it says otherwise.
type Config struct {
	Rules    func() policy.Rules // the rules now; asked for each query, since they can change
	Gate     Gate
	Book     *Book
	Resolver *Resolver
	Log      Log
	Watch    Watch

	// NotDNS is told of a TCP connection that carries something other than DNS, before it is closed; may be nil. It must not block.
	NotDNS func(net.Conn)
}

// Server answers the DNS queries of one sandbox.
type Server struct {
	Config
	lines   lines
	slots   chan struct{} // lookups under way, those of TCP among them
	started atomic.Bool
}

// maxLookups is how many queries wait for the machine's resolver at once. One more is dropped, as a socket that is full would: the client asks again.
const maxLookups = 4096

// New makes a server; it listens to nothing yet.
func New(c Config) (*Server, error) {
	if c.Rules == nil || c.Gate == nil || c.Book == nil || c.Resolver == nil || c.Log == nil || c.Watch == nil {
		return nil, errors.New("making the DNS server: a part is missing")
	}
	return &Server{Config: c, slots: make(chan struct{}, maxLookups), lines: lines{log: c.Log, watch: c.Watch}}, nil
}

// Serve answers on the sockets until ctx ends, then closes them and returns when all that was under way has ended. It can be called once.
func (s *Server) Serve(ctx context.Context, udp []net.PacketConn, tcp []net.Listener) error {
	if s.started.Swap(true) {
		return errors.New("serving DNS: a server serves once")
	}
	l := newLookups(ctx, s.Gate)
	var loops sync.WaitGroup
	for _, c := range udp {
		serveUDP(ctx, s, l, c, &loops)
	}
	for _, c := range tcp {
		loops.Go(func() { serveTCP(ctx, s, l, c) })
	}
	loops.Go(func() { l.watch(ctx) })
	<-ctx.Done()
	for _, c := range udp {
		c.Close()
	}
	for _, c := range tcp {
		c.Close()
	}
	loops.Wait()
	l.wait()
	return nil
}

// backoff waits after an error of a socket that lives on: twice as long after each, up to a second. It returns false when ctx ends.
func backoff(ctx context.Context, wait *time.Duration) bool {
	*wait = min(max(2*(*wait), 5*time.Millisecond), time.Second)
	t := time.NewTimer(*wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
