package policy

import (
	"net/netip"
	"strconv"
)

// Endpoint is one entry of a spec's endpoints in normal form: what may be called, and at which ports. It is comparable. The
// zero value matches nothing.
type Endpoint struct {
	kind    endpointKind
	name    Name         // exact: the name; below: what it lies below; machine: as it was spelt, unless by address
	network netip.Prefix // network: an address is a network of one; machine: as it was spelt, unless by name
	ports   portSet
}

type endpointKind uint8

const (
	kindNone    endpointKind = iota
	kindExact                // one name
	kindBelow                // every name below one
	kindNetwork              // literal addresses
	kindMachine              // ports of this machine
)

// portSet is the ports of an endpoint; the zero value is 80 and 443.
type portSet struct {
	any bool
	one uint16 // 0: 80 and 443
}

// webPorts are an endpoint's ports where it names none.
var webPorts = [...]uint16{80, 443}

// list is the ports one by one, 0 standing for any.
func (p portSet) list() []uint16 {
	switch {
	case p.any:
		return []uint16{0}
	case p.one != 0:
		return []uint16{p.one}
	}
	return webPorts[:]
}

func (p portSet) suffix() string {
	switch {
	case p.any:
		return ":*"
	case p.one != 0:
		return ":" + strconv.Itoa(int(p.one))
	}
	return ""
}

// EndpointFor is the shortest endpoint that allows a call to h at that port: what a refusal suggests. It is zero where no
// endpoint can allow it.
func EndpointFor(h Host, port uint16) Endpoint {
	if port == 0 || h.IsZero() {
		return Endpoint{}
	}
	e := Endpoint{kind: kindExact, name: h.name, ports: portSet{one: port}}
	if a, ok := h.Addr(); ok {
		a = Unwrap(a)
		e.kind, e.network = kindNetwork, netip.PrefixFrom(a, a.BitLen())
	}
	if isMachineName(h.name) || h.addr == MachineAddr || Classify(h.addr) == ClassMachine {
		return Endpoint{kind: kindMachine, name: localhost, ports: e.ports}
	}
	if port == 80 || port == 443 {
		e.ports = portSet{}
	}
	if e.Never() != "" {
		return Endpoint{}
	}
	return e
}

// Never is the reason for which every call to the endpoint is refused, whatever else is allowed; empty where some call may
// be allowed. Such an endpoint is well formed, but of no use.
func (e Endpoint) Never() Reason {
	switch e.kind {
	case kindExact:
		if _, ok := MetadataName(e.name); ok {
			return ReasonMetadata
		}
		if _, ok := Fixed(e.name); ok {
			return ReasonFixedName
		}
	case kindBelow:
		if a, ok := Fixed(e.name); ok && a.NoSuchName {
			return ReasonFixedName
		}
	case kindNetwork:
		if e.network.IsSingleIP() {
			return Classify(e.network.Addr()).refusal()
		}
		if class := classOfNetwork(e.network); class != ClassUnknown {
			return class.refusal()
		}
	case kindNone:
		return ReasonNotAllowed
	}
	return ""
}

// String is the endpoint in normal form, which ParseEndpoint reads back; empty for the zero value.
func (e Endpoint) String() string {
	switch {
	case e.kind == kindNone:
		return ""
	case e.kind == kindBelow:
		return "*." + e.name.s + e.ports.suffix()
	case !e.name.IsZero():
		return e.name.s + e.ports.suffix()
	}
	text := e.network.String()
	if e.network.IsSingleIP() {
		text = e.network.Addr().String()
	}
	if e.network.Addr().Is6() {
		text = "[" + text + "]"
	}
	return text + e.ports.suffix()
}

// IsMachine reports whether the endpoint is a port of this machine.
func (e Endpoint) IsMachine() bool { return e.kind == kindMachine }

// spellsMachine reports whether the endpoint is spelt as this machine is: localhost, 127.0.0.1, [::1], host.lnk.internal.
func (e Endpoint) spellsMachine() bool {
	switch e.kind {
	case kindExact:
		return e.name == localhost || e.name == MachineName || e.name == MachineDockerName
	case kindNetwork:
		a := e.network.Addr()
		return e.network.IsSingleIP() && (a == loopback[0] || a == loopback[1])
	}
	return false
}
