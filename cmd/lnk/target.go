package main

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"lnk/policy"
)

// Ports that a URL means where it names none: RFC 9110, RFC 6455, and the services' own registrations (IANA).
var schemePorts = map[string]uint16{
	"http": 80, "ws": 80, "https": 443, "wss": 443, "ssh": 22, "git+ssh": 22, "git": 9418, "ftp": 21,
	"postgres": 5432, "postgresql": 5432, "mysql": 3306, "redis": 6379,
}

// parseTarget reads what a person writes for a call: a URL, a host and port, or a host, whose port is then 443.
func parseTarget(s string) (policy.Host, uint16, error) {
	if strings.Contains(s, "://") {
		return parseURL(s)
	}
	if _, err := strconv.ParseUint(s, 10, 16); err == nil {
		return policy.Host{}, 0, fmt.Errorf("target %q: a port alone says nothing; this machine's is localhost:%[1]s", s)
	}
	host, port, err := policy.ParseHostPort(s, 443)
	if err != nil {
		return policy.Host{}, 0, fmt.Errorf("target %q: %w", s, err)
	}
	return host, port, nil
}

func parseURL(s string) (policy.Host, uint16, error) {
	u, err := url.Parse(s)
	if err != nil {
		return policy.Host{}, 0, fmt.Errorf("target: %w", err)
	}
	host, port, err := policy.ParseHostPort(u.Host, schemePorts[strings.ToLower(u.Scheme)])
	if err != nil {
		return policy.Host{}, 0, fmt.Errorf("target %q: %w", s, err)
	}
	return host, port, nil
}

func targetText(h policy.Host, port uint16) string {
	return net.JoinHostPort(h.String(), strconv.Itoa(int(port)))
}

func addrPort(a netip.Addr, port uint16) netip.AddrPort { return netip.AddrPortFrom(a, port) }

// isThisMachine says whether an address is one of this machine's interfaces'.
func isThisMachine(a netip.Addr) bool {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return true // the narrower reading
	}
	for _, have := range addrs {
		if p, err := netip.ParsePrefix(have.String()); err == nil && p.Addr().Unmap() == a.Unmap() {
			return true
		}
	}
	return false
}
