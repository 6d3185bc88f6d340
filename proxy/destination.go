package proxy

import (
	"net/netip"

	"lnk/policy"
	"lnk/wirelog"
)

// destination is where a call goes as its client meant it. A flow has one, from its original destination; a request to the explicit proxy
// brings its own.
type destination struct {
	to       netip.AddrPort // the address and port; the address is invalid where only a name was asked for
	names    []policy.Name  // the names that the address was given for, in this sandbox
	asked    policy.Host    // what the explicit proxy was asked for; zero on a redirected connection
	refusal  bool           // the address is a refusal address: it stands for its name and is never dialled
	machine  bool           // the way to this machine's own ports
	explicit bool           // the explicit proxy's door
	barred   policy.Reason  // why nothing that goes here can be allowed, whatever it shows; empty where something can
	label    string         // what it is called in the log where the call shows no name
}

// redirected is the destination of a connection that was going to to.
func (w *Wire) redirected(to netip.AddrPort) destination {
	to = netip.AddrPortFrom(policy.Unwrap(to.Addr().WithZone("")), to.Port())
	d := destination{
		to:      to,
		names:   w.Book.Names(to.Addr()),
		label:   to.Addr().String(),
		refusal: policy.IsRefusalAddr(to.Addr()),
	}
	d.machine = to.Addr() == policy.MachineAddr || !d.refusal && w.Local(to.Addr())
	if len(d.names) > 0 {
		d.label = d.names[0].String()
	}
	if policy.RefusalPrefix4.Contains(to.Addr()) && !d.refusal && !d.machine {
		d.explicit = to == explicitDoor
		d.barred = policy.ReasonSelf // an address of the room: nothing is behind it
	}
	return d
}

// unreadable is the destination of a connection that nobody knows about.
func unreadable() destination { return destination{label: "unknown", barred: policy.ReasonNoOriginal} }

// machinePort is this machine's port.
func machinePort(port uint16) destination {
	return destination{to: netip.AddrPortFrom(policy.MachineAddr, port), machine: true, label: policy.MachineName.String()}
}

// Ports with a meaning (RFC 9110, section 4.2).
const (
	portHTTP  = 80
	portHTTPS = 443
)

// verb is the verb of a call to d that isn't an HTTP request.
func (d *destination) verb() wirelog.Verb {
	switch {
	case d.machine:
		return wirelog.Port
	case d.to.Port() == portHTTPS:
		return wirelog.Connect
	case d.to.Port() == 0:
		return wirelog.Unknown // nobody knows where it was going
	}
	return wirelog.TCP
}

// target is what a call to d that shows no name is called in the log.
func (d *destination) target() wirelog.Target {
	if d.machine {
		return wirelog.PortTarget(d.to.Port())
	}
	return wirelog.HostPort(d.label, d.to.Port())
}

// askedFor is the destination that an explicit proxy was asked for. What it calls itself, the room's host is.
func (w *Wire) askedFor(host policy.Host, port uint16) destination {
	if addr, is := host.Addr(); is {
		if addr.IsLoopback() || addr.IsUnspecified() {
			return machinePort(port)
		}
		d := w.redirected(netip.AddrPortFrom(addr, port))
		d.asked = host
		return d
	}
	switch name, _ := host.Name(); name {
	case policy.MachineName, policy.MachineDockerName, localhost:
		return machinePort(port)
	case policy.ProxyName:
		return destination{to: netip.AddrPortFrom(policy.ProxyAddr, port), label: name.String(), barred: policy.ReasonSelf}
	}
	return destination{to: netip.AddrPortFrom(netip.Addr{}, port), asked: host, label: host.String()}
}

var localhost = func() policy.Name {
	n, err := policy.ParseName("localhost")
	if err != nil {
		panic(err) // "localhost" is a name
	}
	return n
}()
