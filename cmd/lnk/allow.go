package main

import (
	"fmt"

	"lnk/policy"
)

// wayToAllow says what would have the rules allow a call that they refuse; it is empty where nothing would. What it says
// has been tried on the rules.
func wayToAllow(rules policy.Rules, host policy.Host, port uint16) string {
	mode, leaveOut := rules.Mode(), ""
	if mode == policy.ModeNone { // beside which an endpoint or a port is an error
		mode, leaveOut = policy.ModeEndpoints, "leave out --network none (or the spec's mode), and say "
	}
	if isMachinePort(host) {
		if !allows(mode, rules.Endpoints(), append(rules.Ports(), port), host, port) {
			return ""
		}
		return fmt.Sprintf("%s-p %d, or %[2]d among the spec's ports", leaveOut, port)
	}
	e := policy.EndpointFor(host, port)
	if e == (policy.Endpoint{}) || !allows(mode, append(rules.Endpoints(), e), rules.Ports(), host, port) {
		return ""
	}
	return fmt.Sprintf("%s-a %s, or \"%[2]s\" among the spec's endpoints", leaveOut, e)
}

// allows says whether rules with these endpoints and ports allow a call, as far as that is known without a lookup.
func allows(mode policy.Mode, endpoints []policy.Endpoint, ports []uint16, host policy.Host, port uint16) bool {
	rules, err := policy.NewRules(mode, endpoints, ports)
	return err == nil && judge(rules, host, port).Allowed
}

// isMachinePort says whether a call to host is one to this machine, whose ports alone can be allowed.
func isMachinePort(host policy.Host) bool {
	if addr, literal := host.Addr(); literal && isThisMachine(policy.Unwrap(addr)) {
		return true
	}
	return policy.EndpointFor(host, 1).IsMachine()
}
