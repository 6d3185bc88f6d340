package sandbox

import (
	"fmt"

	"lnk/policy"
	"lnk/spec"
)

// describe puts a spec's network in the record.
func (r *Running) describe(s spec.Spec) {
	r.Mode, r.Endpoints, r.Ports = s.Mode().String(), nil, s.Rules().Ports()
	for _, e := range s.Rules().Endpoints() {
		r.Endpoints = append(r.Endpoints, e.String())
	}
}

// Rules are the rules that the run was last given.
func (r Running) Rules() (policy.Rules, error) {
	mode, err := policy.ParseMode(r.Mode)
	if err != nil {
		return policy.Rules{}, fmt.Errorf("reading the run %s: %w", r.Name, err)
	}
	var endpoints []policy.Endpoint
	for _, text := range r.Endpoints {
		e, err := policy.ParseEndpoint(text)
		if err != nil {
			return policy.Rules{}, fmt.Errorf("reading the run %s: %w", r.Name, err)
		}
		endpoints = append(endpoints, e)
	}
	return policy.NewRules(mode, endpoints, r.Ports)
}
