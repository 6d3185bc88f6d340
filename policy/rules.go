package policy

import (
	"errors"
	"fmt"
	"slices"
)

// Rules is what a sandbox may reach. The zero value denies everything, as mode none does.
type Rules struct{ t *table }

// NewRules makes the rules of a network: its endpoints, and the ports of this machine that may be called, to which endpoints
// like localhost:5432 add theirs. In mode open the endpoints name what may be called although it is private. Modes
// none and host have neither endpoints nor ports.
func NewRules(mode Mode, endpoints []Endpoint, ports []uint16) (Rules, error) {
	switch mode {
	case ModeEndpoints, ModeOpen:
	case ModeNone, ModeHost:
		if len(endpoints)+len(ports) > 0 {
			return Rules{}, fmt.Errorf("rules: mode %s has no endpoints and no ports", mode)
		}
	default:
		return Rules{}, fmt.Errorf("rules: %s is not known", mode)
	}
	if slices.Contains(ports, 0) {
		return Rules{}, errors.New("rules: port 0 is no port")
	}
	if slices.Contains(endpoints, Endpoint{}) {
		return Rules{}, errors.New("rules: the zero endpoint is none")
	}
	return Rules{newTable(mode, endpoints, ports)}, nil
}

// Mode is the network's mode.
func (r Rules) Mode() Mode {
	if r.t == nil {
		return ModeNone
	}
	return r.t.mode
}

// Endpoints are the endpoints in the order they were given, each once.
func (r Rules) Endpoints() []Endpoint {
	if r.t == nil {
		return nil
	}
	return slices.Clone(r.t.endpoints)
}

// Ports are the ports of this machine that may be called, those that endpoints name (localhost:5432) among them, sorted.
func (r Rules) Ports() []uint16 {
	if r.t == nil {
		return nil
	}
	return slices.Clone(r.t.ports)
}
