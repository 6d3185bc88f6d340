package dnsproxy

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"lnk/policy"
)

// maxAsking is how many questions are under way to the machine's servers at once; more wait. It bounds the resolver's descriptors.
const maxAsking = 256

// Resolver asks the machine's own resolver, as its resolv.conf and hosts file say, which it reads again when they
// change. It judges nothing: an allowed check comes before it, also where the answer is cached. It is safe for use from many goroutines.
type Resolver struct {
	conf    followed[resolvConf]
	hosts   followed[hosts]
	port    uint16 // 53
	now     func() time.Time
	cache   cache
	sockets sockets
	slots   chan struct{}
	turn    atomic.Uint32
	version atomic.Uint64 // of the two files

	mu      sync.Mutex
	flights map[string]*flight
	shunned map[netip.Addr]time.Time
}

// ResolverConfig says where the machine's own settings are.
type ResolverConfig struct {
	ResolvConf string // path of the machine's resolv.conf; empty means /etc/resolv.conf
	Hosts      string // path of the machine's hosts file; empty means /etc/hosts
}

// NewResolver makes a resolver.
func NewResolver(c ResolverConfig) *Resolver {
	if c.ResolvConf == "" {
		c.ResolvConf = "/etc/resolv.conf"
	}
	if c.Hosts == "" {
		c.Hosts = "/etc/hosts"
	}
	return &Resolver{
		conf:    followed[resolvConf]{path: c.ResolvConf, parse: parseResolvConf},
		hosts:   followed[hosts]{path: c.Hosts, parse: parseHosts},
		port:    53,
		now:     time.Now,
		slots:   make(chan struct{}, maxAsking),
		flights: make(map[string]*flight),
		shunned: make(map[netip.Addr]time.Time),
	}
}

// Close closes the sockets that are kept for reuse. Lookups that are under way go on.
func (r *Resolver) Close() error {
	r.sockets.close()
	return nil
}

// settings are what the two files say now. When one of them has changed, everything is asked anew.
func (r *Resolver) settings(now time.Time) (*resolvConf, hosts) {
	conf, changed := r.conf.get(now)
	h, also := r.hosts.get(now)
	if changed || also {
		r.version.Add(1)
		r.cache.clear()
	}
	return conf, *h
}

// flight is a question under way, for everyone who asks it meanwhile.
type flight struct {
	done chan struct{}
	a    *answer
	err  error
}

// answer answers a question from the cache, or asks it. Equal questions at the same time are asked once.
func (r *Resolver) answer(ctx context.Context, q question) (*answer, error) {
	key := q.key()
	for {
		if a := r.cache.get([]byte(key), r.now()); a != nil {
			return a, nil
		}
		f, leads := r.join(key)
		if leads {
			r.fly(ctx, f, q, key)
			return f.a, f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if f.err == nil || !gaveUp(f.err) || ctx.Err() != nil {
			return f.a, f.err
		}
		// Who asked has given up; this one hasn't.
	}
}

func (r *Resolver) join(key string) (f *flight, leads bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.flights[key]; f != nil {
		return f, false
	}
	f = &flight{done: make(chan struct{})}
	r.flights[key] = f
	return f, true
}

// fly asks the question for all who wait on f.
func (r *Resolver) fly(ctx context.Context, f *flight, q question, key string) {
	defer func() {
		r.mu.Lock()
		delete(r.flights, key)
		r.mu.Unlock()
		close(f.done)
	}()
	version := r.version.Load()
	conf, _ := r.settings(r.now())
	m, err := r.search(ctx, conf, q)
	if err != nil {
		f.err = err
		return
	}
	now := r.now()
	if f.a, f.err = newAnswer(q, m, now); f.err == nil && r.version.Load() == version {
		r.cache.put(key, f.a, now)
	}
}

// known is the addresses that the hosts file has for a name.
func (r *Resolver) known(name policy.Name, now time.Time) ([]netip.Addr, bool) {
	_, h := r.settings(now)
	addrs, ok := h[name]
	return addrs, ok
}
