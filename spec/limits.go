package spec

import "fmt"

// limitsSection is [limits]: the bounds of a run.
type limitsSection struct {
	Calls *int64 `toml:"calls"` // open at once
}

// maxCalls is the highest limit of calls that makes sense: more than a process can have descriptors for.
const maxCalls = 1 << 20

func (l limitsSection) apply(s Spec) (Spec, error) {
	if l.Calls == nil {
		return s, nil
	}
	if *l.Calls < 1 || *l.Calls > maxCalls {
		return Spec{}, wrong("limits.calls", -1, fmt.Errorf("%d: it is a number from 1 to %d", *l.Calls, maxCalls))
	}
	s.limits.calls = int(*l.Calls)
	return s, nil
}
