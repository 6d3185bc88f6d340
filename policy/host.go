package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Host is what a call asks for: a name, or an address. The zero value is neither and is always refused.
type Host struct {
	name Name
	addr netip.Addr
}

// ParseHost reads a name, or an address in any spelling that some client takes for one: decimal, octal and hexadecimal
// numbers of one to four parts (inet_aton), brackets, a zone (dropped), full-width digits and stops, percent escapes,
// trailing dots. It takes bytes as they come from a ClientHello, a header or a query; an error means that nothing may be
// called by them.
func ParseHost(s string) (Host, error) {
	h, err := parseHost(s)
	if err != nil {
		return Host{}, fmt.Errorf("host %.80q: %w", s, err)
	}
	return h, nil
}

func parseHost(s string) (Host, error) {
	if len(s) > 3*maxSpelling { // each octet may be escaped with three
		return Host{}, errors.New("too long")
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return Host{}, errors.New("a bracket without its other")
		}
		return parseLiteral(inner)
	}
	if strings.IndexByte(s, ':') >= 0 {
		return parseLiteral(s)
	}
	plain, err := unescape(s)
	if err == nil {
		plain, err = plainName(plain)
	}
	if err != nil {
		return Host{}, err
	}
	if number := strings.TrimRight(plain, "."); endsInNumber(number) {
		return parseNumber(number)
	}
	plain = strings.TrimSuffix(plain, ".")
	return Host{name: Name{plain}}, checkName(plain)
}

// parseLiteral reads what stood in brackets or holds a colon: an IPv6 address, or an IPv4 address that somebody bracketed.
func parseLiteral(s string) (Host, error) {
	s, _, _ = strings.Cut(s, "%") // a zone names a link of this machine; no rule depends on it
	if strings.IndexByte(s, ':') < 0 {
		return parseNumber(strings.ToLower(s))
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return Host{}, errors.New("not an IPv6 address")
	}
	return HostAt(a), nil
}

// unescape resolves percent escapes once, as a URL's host is resolved (WHATWG URL, host parser).
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '%') < 0 {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", errors.New("a percent escape that is cut short")
		}
		c, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", errors.New("a percent escape that isn't hexadecimal")
		}
		out = append(out, byte(c))
		i += 2
	}
	return string(out), nil
}

// parseNumber reads an IPv4 address as inet_aton(3) and browsers do: one to four parts, each decimal, octal (0…) or
// hexadecimal (0x…), the last one filling what is left of 32 bits.
func parseNumber(s string) (Host, error) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return Host{}, errors.New("an address of more than four parts")
	}
	var sum uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := parsePart(part, bits)
		if err != nil {
			return Host{}, errors.New("neither a name nor an address")
		}
		sum = sum<<bits | n
	}
	return HostAt(netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})), nil
}

func parsePart(s string, bits int) (uint64, error) {
	base := 10
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		s, base = "0"+hex, 16 // a bare 0x is 0
	} else if len(s) > 1 && s[0] == '0' {
		base = 8
	}
	return strconv.ParseUint(s, base, bits)
}

// ParseHostPort reads a Host header or the target of a CONNECT. Without a port, or with an empty one, the port is deflt; a
// deflt of 0 requires one. An IPv6 address stands in brackets: without them, where its port begins is anybody's guess.
func ParseHostPort(s string, deflt uint16) (Host, uint16, error) {
	host, port, err := splitPort(s)
	if err != nil {
		return Host{}, 0, fmt.Errorf("host and port %.80q: %w", s, err)
	}
	number := deflt
	if port != "" {
		if number, err = parsePort(port); err != nil {
			return Host{}, 0, fmt.Errorf("host and port %.80q: %w", s, err)
		}
	}
	if number == 0 {
		return Host{}, 0, fmt.Errorf("host and port %.80q: no port", s)
	}
	h, err := ParseHost(host)
	if err != nil {
		return Host{}, 0, err
	}
	return h, number, nil
}

// splitPort cuts host:port, host, [address]:port or [address]; port is empty where there is none.
func splitPort(s string) (host, port string, err error) {
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']') + 1
		if end == 0 {
			return "", "", errors.New("a bracket without its other")
		}
		if rest := s[end:]; rest != "" && rest[0] != ':' {
			return "", "", errors.New("something between the bracket and the port")
		}
		return s[:end], strings.TrimPrefix(s[end:], ":"), nil
	}
	host, port, _ = strings.Cut(s, ":")
	if strings.IndexByte(port, ':') >= 0 {
		return "", "", errors.New("an IPv6 address without brackets")
	}
	return host, port, nil
}

// parsePort reads a port, 1 to 65535, in decimal digits.
func parsePort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("port %.20q is not a number from 1 to 65535", s)
	}
	return uint16(n), nil
}

// HostNamed is the host of that name.
func HostNamed(n Name) Host { return Host{name: n} }

// HostAt is the host at that address: without a zone, and an IPv4-mapped address as the IPv4 address it is.
func HostAt(a netip.Addr) Host { return Host{addr: a.WithZone("").Unmap()} }

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
