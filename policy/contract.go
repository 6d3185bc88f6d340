package policy

// This file is the contract that the other packages were written against; its parts move to files of their own.

import "net/netip"

// Name is a DNS name in normal form: lower case, A-labels (RFC 5890), no trailing dot, at most 253 octets, labels of
// 1 to 63. It is comparable; only ParseName makes one. The zero value is no name and matches nothing.
type Name struct{ s string }

// Host is what a call asks for: a name, or an address. The zero value is neither and is always refused.
type Host struct {
	name Name
	addr netip.Addr
}

// Endpoint is one entry of a spec's endpoints in normal form. The zero value matches nothing.
type Endpoint struct{ todo string }

// Mode is a sandbox's kind of network. The zero value is None: no network.
type Mode uint8

// The modes of a network.
const (
	ModeNone      Mode = iota // nothing may be called
	ModeEndpoints             // what the endpoints name
	ModeOpen                  // all that is public, logged and watched
	ModeHost                  // the machine's own network, without a wire
)

// Rules is what a sandbox may reach. The zero value denies everything.
type Rules struct{ todo string }

// Class is what kind of address an address is. The zero value is ClassUnknown, which is refused.
type Class uint8

// Reason is one of a closed list of fixed sentences; it stands in the log and in a refusal's words.
type Reason string

// Decision is a verdict and why. The zero value denies.
type Decision struct {
	Allowed bool
	Reason  Reason // set on every refusal; empty where allowed
	Rule    string // the endpoint or rule that decided, in normal form; may be empty
	Name    Name   // the name under which a connection was allowed; zero for a bare address
	Detail  string // more for a person (why and since when a sandbox is paused); never logged
}
