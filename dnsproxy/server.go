package dnsproxy

import (
	"context"
	"errors"
	"net"

	"lnk/policy"
	"lnk/wirelog"
)

// Gate says whether anything may pass now. The zero Decision is no.
type Gate interface{ Check() policy.Decision }

// Log takes the line of a lookup.
type Log interface {
	Write(wirelog.Record) error
}

// Watch is told of each lookup that the rules refuse: a name's A, AAAA and HTTPS together are one. It isn't told while the gate is closed.
type Watch interface{ Refused(name string) }

// Config is what a Server is made of. All of it must be set.
type Config struct {
	Rules    func() policy.Rules // the rules as they are now; asked for every query
	Gate     Gate                // asked for every query, and again while lookups are under way
	Book     *Book
	Resolver *Resolver
	Log      Log
	Watch    Watch
}

// Server answers the DNS queries of one sandbox.
type Server struct{ Config }

// New makes a server.
func New(c Config) (*Server, error) { return nil, errors.New("making the DNS server: not yet") }

// Serve answers on the sockets until ctx ends, then closes them, waits for all that is under way and returns nil. It may be called once.
func (s *Server) Serve(ctx context.Context, udp []net.PacketConn, tcp []net.Listener) error {
	return nil
}
