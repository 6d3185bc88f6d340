package spec

import (
	"fmt"
	"slices"
	"strconv"

	"lnk/policy"
)

// Flags are what a command line says of a run; what is empty says nothing.
type Flags struct {
	Endpoints []string // -a: added to the spec's
	Ports     []string // -p: added to the spec's
	Mode      string   // --network
}

// With is the spec with flags laid over it. Endpoints and ports are added to the spec's, the mode takes its place; where
// nobody said a mode, endpoints make it endpoints. Endpoints may be spelt in any way here. What contradicts is an error.
func (s Spec) With(f Flags) (Spec, error) {
	n := s.network
	n.endpoints, n.ports = slices.Clone(n.endpoints), slices.Clone(n.ports)
	for _, entry := range f.Endpoints {
		e, err := policy.ParseEndpoint(entry)
		if err != nil {
			return Spec{}, fmt.Errorf("-a: %w", err)
		}
		if !slices.Contains(n.endpoints, e) {
			n.endpoints = append(n.endpoints, e)
		}
	}
	for _, text := range f.Ports {
		p, err := parsePort(text)
		if err != nil {
			return Spec{}, fmt.Errorf("-p: %w", err)
		}
		if !slices.Contains(n.ports, p) {
			n.ports = append(n.ports, p)
		}
	}
	if err := n.setMode(f); err != nil {
		return Spec{}, err
	}
	return s.withNetwork(n)
}

func parsePort(text string) (uint16, error) {
	p, err := strconv.ParseUint(text, 10, 16)
	if err != nil || p == 0 {
		return 0, fmt.Errorf("port %.40q: a port is a number from 1 to 65535", text)
	}
	return uint16(p), nil
}

// setMode settles the mode once the flags' endpoints and ports are in.
func (n *network) setMode(f Flags) error {
	switch {
	case f.Mode != "":
		mode, err := policy.ParseMode(f.Mode)
		if err != nil {
			return fmt.Errorf("--network: %w", err)
		}
		n.mode, n.explicit = mode, true
	case len(f.Endpoints) > 0 && !n.explicit:
		n.mode, n.explicit = policy.ModeEndpoints, true
	}
	if n.mode != policy.ModeNone && n.mode != policy.ModeHost {
		return nil
	}
	switch {
	case len(f.Endpoints) > 0:
		return fmt.Errorf("-a: %w", beside(n.mode))
	case len(f.Ports) > 0:
		return fmt.Errorf("-p: %w", beside(n.mode))
	case len(n.endpoints)+len(n.ports) > 0:
		return fmt.Errorf("--network: the spec has endpoints or ports, and %w", beside(n.mode))
	}
	return nil
}
