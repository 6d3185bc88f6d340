package sandbox

import (
	"sync/atomic"

	"lnk/policy"
)

// currentRules are the rules that hold now. The zero value denies everything.
type currentRules struct{ p atomic.Pointer[policy.Rules] }

func (c *currentRules) set(r policy.Rules) { c.p.Store(&r) }

func (c *currentRules) get() policy.Rules {
	if r := c.p.Load(); r != nil {
		return *r
	}
	return policy.Rules{}
}
