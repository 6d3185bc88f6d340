package dnsproxy

import (
	"context"
	"sync"
	"sync/atomic"
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
	jobs   chan func() // taken by those that are spare, at once or not at all
	spare  atomic.Int32
}

func newLookups(ctx context.Context, gate Gate) *lookups {
	l := &lookups{gate: gate, base: ctx, jobs: make(chan func())}
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

// maxSpare is how many goroutines that have answered a query wait for another one. Their stacks have grown to what a lookup takes, which
// a new one's has to do first.
const maxSpare = 32

// run answers one query in a goroutine, if there is room for one more.
func (s *Server) run(l *lookups, do func(context.Context)) bool {
	select {
	case s.slots <- struct{}{}:
	default:
		return false
	}
	job := func() {
		defer func() { <-s.slots }()
		ctx := l.begin()
		defer l.end()
		do(ctx)
	}
	select {
	case l.jobs <- job:
	default:
		l.all.Go(func() { l.work(job) })
	}
	return true
}

// work does one job after the other, as long as they come or until it's one of too many that wait for one.
func (l *lookups) work(job func()) {
	for {
		job()
		if l.spare.Add(1) > maxSpare {
			l.spare.Add(-1)
			return
		}
		select {
		case job = <-l.jobs:
			l.spare.Add(-1)
		case <-l.base.Done():
			return
		}
	}
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
