package spec

import (
	"errors"
	"fmt"
	"slices"

	"lnk/policy"
)

// networkSection is [network]: which network the program has, and what it may call there.
type networkSection struct {
	Mode      *string   `toml:"mode"`      // absent: open without endpoints, endpoints with them
	Endpoints *[]string `toml:"endpoints"` // an empty list allows nothing
	Ports     []int64   `toml:"ports"`     // this machine's
}

func (n networkSection) apply(s Spec) (Spec, error) {
	endpoints, err := n.endpoints()
	if err != nil {
		return Spec{}, err
	}
	ports, err := n.ports()
	if err != nil {
		return Spec{}, err
	}
	mode, err := n.mode()
	if err != nil {
		return Spec{}, err
	}
	if err := n.contradiction(mode); err != nil {
		return Spec{}, err
	}
	return s.withNetwork(network{mode, n.Mode != nil || n.Endpoints != nil, endpoints, ports})
}

func (n networkSection) mode() (policy.Mode, error) {
	switch {
	case n.Mode != nil:
		mode, err := policy.ParseMode(*n.Mode)
		if err != nil {
			return 0, wrong("network.mode", -1, err)
		}
		return mode, nil
	case n.Endpoints != nil:
		return policy.ModeEndpoints, nil
	}
	return policy.ModeOpen, nil
}

// endpoints takes entries in normal form only, so that one endpoint has one spelling in every file, and a search finds it.
func (n networkSection) endpoints() ([]policy.Endpoint, error) {
	if n.Endpoints == nil {
		return nil, nil
	}
	list := make([]policy.Endpoint, 0, len(*n.Endpoints))
	for i, entry := range *n.Endpoints {
		e, err := policy.ParseEndpoint(entry)
		if err == nil && e.String() != entry {
			err = &policy.EndpointError{Entry: entry, Problem: "not in normal form", Normal: e.String()}
		}
		if err != nil {
			return nil, wrong("network.endpoints", i, err)
		}
		list = append(list, e)
	}
	return list, nil
}

func (n networkSection) ports() ([]uint16, error) {
	var list []uint16
	for i, p := range n.Ports {
		if p < 1 || p > 65535 {
			return nil, wrong("network.ports", i, fmt.Errorf("port %d: a port is a number from 1 to 65535", p))
		}
		if !slices.Contains(list, uint16(p)) {
			list = append(list, uint16(p))
		}
	}
	return list, nil
}

// contradiction is what the section says beside a mode that leaves no room for it. An empty list of endpoints allows nothing,
// as mode none does, but not what mode host and mode open do.
func (n networkSection) contradiction(mode policy.Mode) error {
	some := n.Endpoints != nil && len(*n.Endpoints) > 0
	none := n.Endpoints != nil && len(*n.Endpoints) == 0
	closed := mode == policy.ModeNone || mode == policy.ModeHost
	switch {
	case closed && some, mode == policy.ModeHost && none:
		return wrong("network.endpoints", -1, beside(mode))
	case closed && len(n.Ports) > 0:
		return wrong("network.ports", -1, beside(mode))
	case mode == policy.ModeOpen && none:
		return wrong("network.endpoints", -1, errors.New(`an empty list allows nothing, mode "open" all that is public: leave one out`))
	}
	return nil
}

// beside is the error of endpoints or ports that stand beside a mode without any.
func beside(mode policy.Mode) error {
	if mode == policy.ModeHost {
		return fmt.Errorf("mode %q is the machine's own network, where nothing is judged: leave one out", mode)
	}
	return fmt.Errorf("mode %q allows nothing: leave one out", mode)
}
