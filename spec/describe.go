package spec

import (
	"fmt"
	"strconv"
	"strings"

	"lnk/policy"
)

// shown is how many endpoints or ports a line names; of more, it says how many there are.
const shown = 6

// Describe says in one line what the network is.
func (s Spec) Describe() string {
	switch s.network.mode {
	case policy.ModeHost:
		return "network: the machine's own (mode host): nothing is refused, logged, stopped or paused"
	case policy.ModeNone:
		return "network: none"
	case policy.ModeOpen:
		return "network: open: all that is public" + s.also(" and ") + s.atMachine()
	}
	if places := s.places(); len(places) > 0 {
		return "network: " + some(places) + s.atMachine()
	}
	if len(s.rules.Ports()) > 0 {
		return "network: nothing" + s.atMachine()
	}
	return "network: nothing may be called"
}

// places are the endpoints other than this machine's ports.
func (s Spec) places() []string {
	var list []string
	for _, e := range s.rules.Endpoints() {
		if !e.IsMachine() {
			list = append(list, e.String())
		}
	}
	return list
}

func (s Spec) also(before string) string {
	if places := s.places(); len(places) > 0 {
		return before + some(places)
	}
	return ""
}

// atMachine names this machine's ports.
func (s Spec) atMachine() string {
	var ports []string
	for _, p := range s.rules.Ports() {
		ports = append(ports, strconv.Itoa(int(p)))
	}
	switch len(ports) {
	case 0:
		return ""
	case 1:
		return "; this machine's port " + ports[0]
	}
	return "; this machine's ports " + some(ports)
}

// some lists the first few.
func some(list []string) string {
	if len(list) <= shown {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:shown], ", "), len(list)-shown)
}

// Warnings name what the spec allows to no effect: endpoints to which every call is refused, whatever else is allowed.
func (s Spec) Warnings() []string {
	var list []string
	for _, e := range s.rules.Endpoints() {
		if why := e.Never(); why != "" {
			list = append(list, fmt.Sprintf("endpoint %q: every call to it is refused: %s", e, why))
		}
	}
	return list
}
