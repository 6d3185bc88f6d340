package dnsproxy

import (
	"context"
	"sync"
	"time"

	"lnk/policy"
)

// gateEvery is how often the gate is looked at while lookups are under way.
const gateEvery = 250 * time.Millisecond

// lookups are the questions that are under way to the machine's resolver. All of them end when the gate closes: its context is the
// one thing that is kept here, renewed for those that come after.
type lookups struct {
	gate   Gate
	base   context.Context
	mu     sync.Mutex
	ctx    context.Context
	cancel context.CancelFunc
	open   int
	all    sync.WaitGroup
}

func newLookups(ctx context.Context, gate Gate) *lookups {
	l := &lookups{gate: gate, base: ctx}
	l.ctx, l.cancel = context.WithCancel(ctx)
	return l
}

// begin counts a lookup and returns its context. The caller calls end.
func (l *lookups) begin() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	return l.ctx
}

func (l *lookups) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
}

// watch ends what is under way once the gate is closed, until ctx ends.
func (l *lookups) watch(ctx context.Context) {
	defer l.endAll()
	tick := time.NewTicker(gateEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if l.some() && !l.gate.Check().Allowed {
				l.endAll()
			}
		}
	}
}

func (l *lookups) some() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open > 0
}

func (l *lookups) endAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel()
	l.ctx, l.cancel = context.WithCancel(l.base)
}

// run starts the goroutine of one query, if there is room for one more.
func (s *Server) run(l *lookups, do func(context.Context)) bool {
	select {
	case s.slots <- struct{}{}:
	default:
		return false
	}
	l.all.Go(func() {
		defer func() { <-s.slots }()
		ctx := l.begin()
		defer l.end()
		do(ctx)
	})
	return true
}

// wait waits for all goroutines of queries. None begins any more.
func (l *lookups) wait() {
	l.all.Wait()
	l.cancel()
}

// turn is what holds for all queries that were read together: one look at the clock, the gate, the rules and the machine's
// files. The queries came before it, so no query is answered by a gate older than itself.
type turn struct {
	now   time.Time
	gate  policy.Decision
	rules policy.Rules
	hosts hosts
}

func (s *Server) turn() *turn {
	now := s.Resolver.now()
	_, h := s.Resolver.settings(now)
	return &turn{now: now, gate: s.Gate.Check(), rules: s.Rules(), hosts: h}
}
