package policy

import (
	"errors"
)

// Endpoint is one entry of a spec's endpoints in normal form. The zero value matches nothing.
type Endpoint struct{ todo string }

// ParseEndpoint reads name, *.name, address, [IPv6 address], network or [IPv6 network], each with :port or :* after it
// or, without, ports 80 and 443.
func ParseEndpoint(s string) (Endpoint, error) {
	return Endpoint{}, errors.New("endpoint: not written yet")
}

// EndpointFor is the endpoint that would allow a call to h at that port, and nothing more: what a refusal suggests.
func EndpointFor(h Host, port uint16) Endpoint { return Endpoint{} }

// String is the endpoint in normal form, which ParseEndpoint reads back.
func (e Endpoint) String() string { return e.todo }
