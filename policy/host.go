package policy

import (
	"errors"
	"net/netip"
)

// Host is what a call asks for: a name, or an address. The zero value is neither and is always refused.
type Host struct {
	name Name
	addr netip.Addr
}

// ParseHost reads a name, or an address in any spelling that a client takes for one.
func ParseHost(s string) (Host, error) { return Host{}, errors.New("host: not written yet") }

// ParseHostPort reads a Host header or the target of a CONNECT. Without a port it is deflt; a deflt of 0 requires one.
func ParseHostPort(s string, deflt uint16) (Host, uint16, error) {
	return Host{}, 0, errors.New("host and port: not written yet")
}

// HostNamed is the host of that name.
func HostNamed(n Name) Host { return Host{name: n} }

// HostAt is the host at that address: without a zone, and an IPv4-mapped address as the IPv4 address it is.
func HostAt(a netip.Addr) Host { return Host{addr: a.Unmap().WithZone("")} }

// Name is the host's name, if it is one.
func (h Host) Name() (Name, bool) { return h.name, !h.name.IsZero() }

// Addr is the host's address, if it is one.
func (h Host) Addr() (netip.Addr, bool) { return h.addr, h.addr.IsValid() }

// IsZero reports whether h is neither a name nor an address.
func (h Host) IsZero() bool { return h == Host{} }

// String is the name or the address in normal form, an IPv6 address without brackets; empty for the zero value.
func (h Host) String() string {
	if h.addr.IsValid() {
		return h.addr.String()
	}
	return h.name.String()
}
