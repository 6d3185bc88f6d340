package dnsproxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// stagger is how long one server is waited for before the next try begins beside it. An answer takes tens of
// milliseconds; what is lost or dead would otherwise cost the whole timeout of resolv.conf(5).
const stagger = time.Second

// shunFor is how long a server that didn't answer comes last.
const shunFor = 30 * time.Second

var errNoServer = errors.New("no name server answered")

// consult asks the machine's servers, one after the other and each as often as resolv.conf says. The first that knows wins. What a
// server says that doesn't know (SERVFAIL, REFUSED) is the answer only if none knows.
func (r *Resolver) consult(ctx context.Context, conf *resolvConf, q question) (*message, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	servers := r.order(conf)
	first := r.try(conf, q, servers[0])
	m, open, err := first.run(ctx, stagger)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && !open && m.knows():
		return m, nil
	}
	c := contest{r: r, conf: conf, q: q, servers: servers, results: make(chan result, len(servers)*conf.attempts)}
	return c.run(ctx, first, result{server: servers[0], m: m, err: err}, open)
}

func (r *Resolver) try(conf *resolvConf, q question, server netip.Addr) *try {
	return &try{r: r, q: q, to: netip.AddrPortFrom(server, r.port), timeout: conf.timeout, tcp: conf.tcp}
}

// contest is what follows when the first try hasn't answered: several tries at once.
type contest struct {
	r       *Resolver
	conf    *resolvConf
	q       question
	servers []netip.Addr
	results chan result
	open    int      // tries under way
	said    *message // what a server said that didn't know
	err     error
}

type result struct {
	server netip.Addr
	m      *message
	err    error
}

func (c *contest) run(ctx context.Context, first *try, of result, open bool) (*message, error) {
	ctx, cancel := context.WithCancel(ctx)
	var tries sync.WaitGroup
	defer tries.Wait()
	defer cancel()
	start := func(t *try, do func() (*message, error)) {
		c.open++
		tries.Go(func() {
			m, err := do()
			c.results <- result{t.to.Addr(), m, err}
		})
	}
	if open {
		c.r.shun(first.to.Addr())
		start(first, func() (*message, error) { return first.finish(ctx) })
	} else {
		c.note(of)
	}
	for i := 1; i < len(c.servers)*c.conf.attempts; i++ {
		t := c.r.try(c.conf, c.q, c.servers[i%len(c.servers)])
		start(t, func() (*message, error) {
			m, _, err := t.run(ctx, t.timeout)
			return m, err
		})
		if m := c.wait(ctx, stagger); m != nil {
			return m, nil
		}
	}
	for c.open > 0 && ctx.Err() == nil {
		if m := c.wait(ctx, c.conf.timeout); m != nil {
			return m, nil
		}
	}
	return c.end(ctx)
}

// wait waits for a server that knows, until one try has ended without or the time is over.
func (c *contest) wait(ctx context.Context, limit time.Duration) *message {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case res := <-c.results:
		c.open--
		if ctx.Err() == nil && c.note(res) {
			return res.m
		}
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// note remembers how a try ended, and reports whether its server knew.
func (c *contest) note(res result) bool {
	if res.err != nil {
		c.err = res.err
		c.r.shun(res.server)
		return false
	}
	c.r.trust(res.server)
	if !res.m.knows() {
		c.said = res.m
		return false
	}
	return true
}

func (c *contest) end(ctx context.Context) (*message, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case c.said != nil:
		return c.said, nil
	case c.err != nil:
		return nil, c.err
	}
	return nil, errNoServer
}

// order is the order in which the servers are asked: resolv.conf's, but those last that didn't answer of late.
func (r *Resolver) order(conf *resolvConf) []netip.Addr {
	if len(conf.servers) == 1 {
		return conf.servers
	}
	servers := slices.Clone(conf.servers)
	if conf.rotate {
		n := int(r.turn.Add(1) % uint32(len(servers)))
		servers = append(servers[n:], servers[:n]...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	shunned := func(a netip.Addr) int {
		if now.Before(r.shunned[a]) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(servers, func(a, b netip.Addr) int { return shunned(a) - shunned(b) })
	return servers
}

func (r *Resolver) shun(server netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shunned[server] = time.Now().Add(shunFor)
}

func (r *Resolver) trust(server netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.shunned, server)
}

// timedOut reports whether an error is a deadline's.
func timedOut(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
