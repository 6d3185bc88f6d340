package spec

import (
	"slices"

	"lnk/policy"
)

// Spec is what a run is asked to be. The zero value allows nothing.
type Spec struct {
	network network
	rules   policy.Rules // network's, made once
	log     log
	limits  limits
}

// network is what may be called.
type network struct {
	mode      policy.Mode
	explicit  bool // the mode was said, not gathered from the endpoints
	endpoints []policy.Endpoint
	ports     []uint16
}

// log is how calls are written down.
type log struct {
	required bool
}

// limits are the bounds of a run. Zero means the default.
type limits struct {
	calls int
}

// defaultCalls is how many calls may be open at once where the spec says nothing: a call costs a few descriptors, and a
// process may have 2^20 of them on common machines.
const defaultCalls = 16384

// Default is the spec of a run that names none: mode open.
func Default() Spec {
	s := Spec{network: network{mode: policy.ModeOpen}}
	s.rules, _ = policy.NewRules(policy.ModeOpen, nil, nil) // can't fail: nothing contradicts mode open
	return s
}

// Rules are the rules of its network.
func (s Spec) Rules() policy.Rules { return s.rules }

// Mode is its network's mode.
func (s Spec) Mode() policy.Mode { return s.network.mode }

// LogRequired says whether a call is refused where the log can't be written.
func (s Spec) LogRequired() bool { return s.log.required }

// MaxCalls is how many calls may be open at once.
func (s Spec) MaxCalls() int {
	if s.limits.calls == 0 {
		return defaultCalls
	}
	return s.limits.calls
}

// withNetwork is the spec with that network and the rules that follow from it.
func (s Spec) withNetwork(n network) (Spec, error) {
	n.endpoints = slices.Clip(slices.Clone(n.endpoints))
	n.ports = slices.Clip(slices.Clone(n.ports))
	rules, err := policy.NewRules(n.mode, n.endpoints, n.ports)
	if err != nil {
		return Spec{}, err
	}
	s.network, s.rules = n, rules
	return s, nil
}
