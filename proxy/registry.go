package proxy

import (
	"sync"

	"lnk/policy"
)

// registry is the set of open flows. A flow is in it from before its first check until after its last line.
type registry struct {
	mu   sync.Mutex
	open map[*flow]struct{}
	gone sync.WaitGroup
}

func (r *registry) add(f *flow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[*flow]struct{}{}
	}
	r.open[f] = struct{}{}
	r.gone.Add(1)
}

func (r *registry) remove(f *flow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, in := r.open[f]; in {
		delete(r.open, f)
		r.gone.Done()
	}
}

func (r *registry) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}

// each calls do for every flow that is open now, outside the lock: do may end flows.
func (r *registry) each(do func(*flow)) {
	r.mu.Lock()
	flows := make([]*flow, 0, len(r.open))
	for f := range r.open {
		flows = append(flows, f)
	}
	r.mu.Unlock()
	for _, f := range flows {
		do(f)
	}
}

func (r *registry) endAll(d policy.Decision) { r.each(func(f *flow) { f.end(d) }) }

func (r *registry) wait() { r.gone.Wait() }
