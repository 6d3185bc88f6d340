package dnsproxy

import (
	"context"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// try is one question sent to one server.
type try struct {
	r       *Resolver
	q       question
	to      netip.AddrPort
	timeout time.Duration
	tcp     bool
	ask     *ask
	socket  *socket // nil before it was sent, and once it is over
	until   time.Time
}

// run sends the question and waits for the answer, but no longer than patience: then open is true, and finish waits on.
func (t *try) run(ctx context.Context, patience time.Duration) (m *message, open bool, err error) {
	if t.tcp {
		m, err = newAsk(t.q, true).overTCP(ctx, t.to, t.timeout)
		return m, false, err
	}
	now := time.Now()
	t.until = now.Add(t.timeout)
	if err = t.send(ctx, true); err != nil {
		return nil, false, err
	}
	m, err = t.wait(ctx, earlier(now.Add(patience), t.until))
	if timedOut(err) && ctx.Err() == nil && patience < t.timeout {
		return nil, true, nil
	}
	m, err = t.settle(ctx, m, err)
	return m, false, err
}

// finish waits for the answer to a question that run left open.
func (t *try) finish(ctx context.Context) (*message, error) {
	m, err := t.wait(ctx, t.until)
	return t.settle(ctx, m, err)
}

// wait reads the answer until a time, or until ctx ends.
func (t *try) wait(ctx context.Context, until time.Time) (*message, error) {
	k := t.socket
	k.SetReadDeadline(until)
	stop := context.AfterFunc(ctx, func() { k.SetReadDeadline(time.Unix(1, 0)) })
	m, err := t.ask.await(k.UDPConn)
	if !stop() { // the deadline may be moved later still: the socket is of no use to anyone else
		k.uses = socketUses
	}
	return m, err
}

// settle gives the socket back, and asks again where the answer says that it must be asked otherwise: over TCP where it was cut, without
// EDNS where the server doesn't know it.
func (t *try) settle(ctx context.Context, m *message, err error) (*message, error) {
	t.over(err == nil || err == errCut)
	switch {
	case err == errCut:
		return newAsk(t.q, true).overTCP(ctx, t.to, t.timeout)
	case err == nil && !t.q.do && (m.rcode == dns.RcodeFormatError || m.rcode == dns.RcodeNotImplemented):
		return t.plain(ctx)
	}
	return m, err
}

// plain asks without EDNS.
func (t *try) plain(ctx context.Context) (*message, error) {
	if err := t.send(ctx, false); err != nil {
		return nil, err
	}
	m, err := t.wait(ctx, time.Now().Add(t.timeout))
	t.over(err == nil || err == errCut)
	if err == errCut {
		return newAsk(t.q, false).overTCP(ctx, t.to, t.timeout)
	}
	return m, err
}

// send sends the question over a socket that this try holds until it is over.
func (t *try) send(ctx context.Context, edns bool) (err error) {
	if t.socket, err = t.r.sockets.get(ctx, t.to); err != nil {
		return err
	}
	t.ask = newAsk(t.q, edns)
	if _, err = t.socket.Write(t.ask.msg); err != nil {
		t.over(false)
	}
	return err
}

// over ends the use of the socket: kept for the next question if this one was answered, since then nothing is on its way to it.
func (t *try) over(answered bool) {
	if answered {
		t.r.sockets.put(t.socket)
	} else {
		t.socket.Close()
	}
	t.socket = nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
