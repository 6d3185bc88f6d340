package proxy

import (
	"errors"
	"os"
	"sync"
	"time"
)

// whoFirst tells who spoke first on a flow.
type whoFirst uint8

const (
	clientFirst whoFirst = iota
	serverFirst
)

// upstream is the upstream of an allowed connection, dialled while the client's first bytes are awaited. Either the server speaks first,
// and is carried to the client at once; or the client's first bytes claim the upstream before anything was carried.
type upstream struct {
	flow *flow
	call *call
	done chan struct{} // closed when nothing here reads from the upstream any more

	mu     sync.Mutex
	claims bool // the client's bytes are being judged
	first  whoFirst
	broken bool // the server's first word was a reset

	dialed // once done is closed, or serverFirst
	err    error
}

// longAgo is a deadline that ends a wait.
var longAgo = time.Unix(1, 0)

// dialEarly dials in a goroutine of its own, which ends with the flow.
func (f *flow) dialEarly(c *call, to dest) *upstream {
	u := &upstream{flow: f, call: c, done: make(chan struct{})}
	f.running.Go(func() {
		defer close(u.done)
		u.run(to)
	})
	return u
}

// dialedAlready is an upstream that was reached before, from here on as if it had been dialled early.
func (f *flow) dialedAlready(c *call, got dialed) *upstream {
	u := &upstream{flow: f, call: c, done: make(chan struct{}), dialed: got}
	f.running.Go(func() {
		defer close(u.done)
		u.listen()
	})
	return u
}

// run reaches the upstream and listens to it.
func (u *upstream) run(to dest) {
	got, err := u.flow.reach(to)
	u.mu.Lock()
	u.dialed, u.err = got, err
	claimed := u.claims
	if err != nil && !claimed {
		// The client is listened to a moment longer, to tell whether it can be answered in words.
		u.flow.client.SetReadDeadline(time.Now().Add(u.flow.wire.Limits.Words))
	}
	u.mu.Unlock()
	if err != nil {
		return
	}
	if !claimed {
		u.listen()
	}
}

// listen waits for the server's first bytes, unless the client's come first, and carries the server's direction.
func (u *upstream) listen() {
	if u.await() == clientFirst {
		return
	}
	u.call.reached(u.dialed)
	u.call.allow()
	if u.broken {
		reset(u.flow.client)
		reset(u.conn)
		return
	}
	u.flow.carryDirection(u.flow.downward(u.call, u.conn))
}

// await waits until one side speaks and tells which. A flow on which neither does is logged after a while, and waits on.
func (u *upstream) await() whoFirst {
	for deadline := u.flow.wire.quietUntil(); u.unclaimed(deadline); deadline = (time.Time{}) {
		err := waitReadable(u.conn)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if !u.claimed() {
				u.call.reached(u.dialed)
				u.call.allow()
			}
			continue
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.claims {
			return clientFirst
		}
		// A reset is told once, and has been now.
		u.first, u.broken = serverFirst, err != nil
		u.conn.SetReadDeadline(time.Time{})
		return serverFirst
	}
	return clientFirst
}

// unclaimed sets the deadline of the next wait, unless the client's bytes have claimed the upstream: then there is nothing to wait for.
func (u *upstream) unclaimed(deadline time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.claims {
		u.conn.SetReadDeadline(deadline)
	}
	return !u.claims
}

func (u *upstream) claimed() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.claims
}

// claim takes the upstream for the client's first bytes, unless the server spoke first; the server's own end counts as speaking.
func (u *upstream) claim() whoFirst {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.first == serverFirst {
		return serverFirst
	}
	u.claims = true
	u.flow.client.SetReadDeadline(time.Time{}) // a failed dial may have set one
	if u.conn != nil {
		u.conn.SetReadDeadline(longAgo)
	}
	return clientFirst
}

// wait waits until nothing here reads from the upstream any more: it was claimed, and is dialled or has failed; or the server's direction has
// been carried to its end.
func (u *upstream) wait() {
	<-u.done
	if u.conn != nil {
		u.conn.SetReadDeadline(time.Time{})
	}
}

// take gives the dialled upstream away, or the error of dialling it, once: to the HTTP front's first request.
func (u *upstream) take() (dialed, error) {
	if u == nil {
		return dialed{}, nil
	}
	u.wait()
	u.mu.Lock()
	defer u.mu.Unlock()
	got, err := u.dialed, u.err
	u.dialed, u.err = dialed{}, nil
	return got, err
}

// reached remembers where the call went.
func (c *call) reached(up dialed) {
	c.mu.Lock()
	c.dialed = up
	c.mu.Unlock()
}

// dialFailed ends a call whose upstream can't be reached, or may not be.
func (c *call) dialFailed(err error, g greeting) {
	c.notReached(err, g)
	reset(c.flow.client)
}

// notReached writes the line of such a call.
func (c *call) notReached(err error, g greeting) {
	e := failed(c.dialed.to, err)
	c.reached(dialed{to: e.to})
	if e.refused {
		c.refuse(e.decision)
	} else {
		c.fail(e.decision.Reason)
	}
	c.flow.wire.Counter.Add(int64(len(g.bytes)), 0)
}

// abandon forgets a call that turned out to be several, unless it has its line already: then it ends here.
func (c *call) abandon() {
	if c.allowed() {
		c.close()
		return
	}
	c.flow.mu.Lock()
	delete(c.flow.calls, c)
	c.flow.mu.Unlock()
}
