package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lnk/policy"
)

// dest is where an allowed call goes: to first, where it is valid, and then to the other addresses of host.
type dest struct {
	first netip.Addr
	host  policy.Host
	port  uint16
	// fixed are the only addresses to try, in order, for a call that no name leads to (this machine's ports).
	fixed []netip.Addr
}

// dialed is an upstream that was reached.
type dialed struct {
	conn *net.TCPConn
	to   netip.AddrPort
}

// dialError is a call that could not be put through: refused by the class of an address, or failed.
type dialError struct {
	to       netip.AddrPort // the address it was about; may be invalid (a name without addresses)
	decision policy.Decision
	refused  bool
	err      error
}

func (e *dialError) Error() string {
	if e.err != nil {
		return "dialling: " + e.err.Error()
	}
	return "dialling: " + string(e.decision.Reason)
}

func (e *dialError) Unwrap() error { return e.err }

// dialer reaches upstreams: it resolves once, classifies every address, and dials literals only.
type dialer struct {
	resolver Resolver
	local    func(netip.Addr) bool
	rules    func() policy.Rules
	limits   Limits
	connect  func(ctx context.Context, to netip.AddrPort, check func(netip.AddrPort) error) (*net.TCPConn, error)
}

// judge classifies an address that is about to be dialled for host; for itself where host is none (this machine's ports).
func (d *dialer) judge(to netip.AddrPort, host policy.Host) policy.Decision {
	if host.IsZero() {
		host = policy.HostAt(to.Addr())
	}
	return d.rules().Address(to, host, d.local)
}

// dial reaches one address of t, several at a time when they are slow (RFC 8305, section 5): the next attempt begins when
// one fails or after a stagger, and the first to succeed wins. Names are resolved only when there is need of another address.
func (d *dialer) dial(ctx context.Context, t dest) (dialed, error) {
	ctx, cancel := context.WithTimeout(ctx, d.limits.Dial)
	defer cancel()
	r := race{dialer: d, ctx: ctx, dest: t, results: make(chan attempt), found: make(chan resolution, 1)}
	defer r.drain(cancel)
	return r.run()
}

// race is the state of one dial.
type race struct {
	*dialer
	ctx     context.Context
	dest    dest
	queue   []netip.Addr // not tried yet
	tried   []netip.Addr
	pending int // attempts under way
	results chan attempt
	found   chan resolution
	asking  bool // a resolution is under way
	asked   bool // none will come any more
	last    *dialError
}

type attempt struct {
	dialed
	err error
}

type resolution struct {
	addrs []netip.Addr
	err   error
}

func (r *race) run() (dialed, error) {
	switch {
	case len(r.dest.fixed) > 0:
		r.queue, r.asked = r.dest.fixed, true
	case r.dest.first.IsValid():
		r.queue = []netip.Addr{r.dest.first}
	}
	if a, isAddr := r.dest.host.Addr(); isAddr {
		r.asked = true
		if len(r.queue) == 0 {
			r.queue = []netip.Addr{a}
		}
	}
	stagger := time.NewTimer(0)
	defer stagger.Stop()
	<-stagger.C
	for {
		if err := r.next(stagger); err != nil {
			return dialed{}, err
		}
		if r.pending == 0 && !r.asking && len(r.queue) == 0 {
			return dialed{}, r.failure()
		}
		select {
		case a := <-r.results:
			r.pending--
			if a.err == nil {
				return a.dialed, nil
			}
			r.last = failed(a.to, a.err)
		case f := <-r.found:
			r.asking, r.asked = false, true
			if err := r.learn(f); err != nil {
				return dialed{}, err
			}
		case <-stagger.C:
		case <-r.ctx.Done():
			return dialed{}, failed(netip.AddrPort{}, r.ctx.Err())
		}
	}
}

// next starts the next attempt, or the resolution that can name one. The first address of a dial may not be refused.
func (r *race) next(stagger *time.Timer) error {
	if len(r.queue) == 0 {
		if !r.asking && !r.asked {
			r.asking = true
			go r.resolve()
		}
		return nil
	}
	to := netip.AddrPortFrom(r.queue[0], r.dest.port)
	r.queue, r.tried = r.queue[1:], append(r.tried, r.queue[0])
	if d := r.judge(to, r.dest.host); !d.Allowed {
		return &dialError{to: to, decision: d, refused: true}
	}
	r.pending++
	go func() {
		conn, err := r.attempt(to)
		r.results <- attempt{dialed{conn, to}, err}
	}()
	stagger.Reset(r.limits.Stagger)
	return nil
}

func (r *race) resolve() {
	name, _ := r.dest.host.Name()
	addrs, err := r.resolver.Resolve(r.ctx, name)
	r.found <- resolution{addrs, err}
}

// learn adds the addresses of a resolution that may be dialled. A metadata service among them refuses the call: whoever
// called by that name may have meant it. Others that are refused are passed over, unless nothing else is left.
func (r *race) learn(f resolution) error {
	if f.err != nil {
		if r.last == nil {
			r.last = unresolved(f.err)
		}
		return nil
	}
	var refused *dialError
	for _, a := range f.addrs {
		to := netip.AddrPortFrom(policy.Unwrap(a), r.dest.port)
		d := r.judge(to, r.dest.host)
		switch {
		case d.Reason == policy.ReasonMetadata:
			return &dialError{to: to, decision: d, refused: true}
		case !d.Allowed:
			if refused == nil {
				refused = &dialError{to: to, decision: d, refused: true}
			}
		case !slices.Contains(r.tried, to.Addr()) && !slices.Contains(r.queue, to.Addr()):
			r.queue = append(r.queue, to.Addr())
		}
	}
	if len(r.tried) == 0 && len(r.queue) == 0 && refused != nil {
		return refused
	}
	return nil
}

// attempt dials one literal, and judges what the kernel is about to be asked once more: nothing but the judged address is dialled.
func (r *race) attempt(to netip.AddrPort) (*net.TCPConn, error) {
	return r.connect(r.ctx, to, func(actual netip.AddrPort) error {
		if actual != to {
			return &dialError{to: to, decision: policy.Decision{Reason: policy.ReasonDialFailed}}
		}
		if d := r.judge(actual, r.dest.host); !d.Allowed {
			return &dialError{to: to, decision: d, refused: true}
		}
		return nil
	})
}

// connectLiteral makes a TCP connection to a literal, from the machine's own network namespace. check is asked about the address
// that the kernel is about to be given.
func connectLiteral(ctx context.Context, to netip.AddrPort, check func(netip.AddrPort) error) (*net.TCPConn, error) {
	d := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		actual, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return check(actual)
	}}
	conn, err := d.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

// drain ends the attempts that lost and waits for them.
func (r *race) drain(cancel context.CancelFunc) {
	cancel()
	for ; r.pending > 0; r.pending-- {
		if a := <-r.results; a.err == nil {
			a.conn.Close()
		}
	}
	if r.asking {
		<-r.found
	}
}

// failure is what is told of a dial when nothing is left to try.
func (r *race) failure() error {
	if r.last == nil {
		return &dialError{decision: policy.Decision{Reason: policy.ReasonNoSuchName}}
	}
	return r.last
}

// failed makes the error of an attempt, with the reason in the wire's own words.
func failed(to netip.AddrPort, err error) *dialError {
	if e, ok := errors.AsType[*dialError](err); ok {
		return e
	}
	reason := policy.ReasonDialFailed
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		reason = policy.ReasonConnRefused
	case errors.Is(err, unix.EHOSTUNREACH), errors.Is(err, unix.ENETUNREACH), errors.Is(err, unix.EADDRNOTAVAIL), errors.Is(err, unix.EACCES):
		reason = policy.ReasonUnreachable
	case errors.Is(err, unix.ECONNRESET):
		reason = policy.ReasonReset
	case errors.Is(err, unix.ETIMEDOUT), errors.As(err, &timeout) && timeout.Timeout():
		reason = policy.ReasonTimedOut
	}
	return &dialError{to: to, decision: policy.Decision{Reason: reason}, err: err}
}

// unresolved makes the error of a name without addresses.
func unresolved(err error) *dialError {
	reason := policy.ReasonNoAnswer
	var missing interface{ NotFound() bool }
	if errors.As(err, &missing) && missing.NotFound() {
		reason = policy.ReasonNoSuchName
	}
	return &dialError{decision: policy.Decision{Reason: reason}, err: err}
}
