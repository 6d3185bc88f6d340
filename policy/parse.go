package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// EndpointError is why an entry is no endpoint.
type EndpointError struct {
	Entry   string // as it was given
	Problem string
	Normal  string // what was meant, in normal form; empty where that can't be told
}

// Error quotes the entry and says what to write instead.
func (e *EndpointError) Error() string {
	text := fmt.Sprintf("endpoint %.120q: %s", e.Entry, e.Problem)
	if e.Normal != "" {
		text += fmt.Sprintf("; write %q", e.Normal)
	}
	return text
}

// ParseEndpoint reads one endpoint:
//
//	name              api.github.com
//	*.name            every name below it, at any depth, never itself
//	address           203.0.113.10 or [2001:db8::1]
//	network           10.1.0.0/16 or [2001:db8::/32]
//	this machine      localhost:5432, 127.0.0.1:5432, [::1]:5432, host.lnk.internal:5432
//
// each with :port or :* (any port) after it; without, at ports 80 and 443. Names may be spelt in capitals, with a trailing dot
// or in other scripts: String is the normal form. Addresses are written plainly. An error is an *EndpointError.
func ParseEndpoint(s string) (Endpoint, error) {
	e, err := parseEndpoint(s)
	if err == nil {
		return e, nil
	}
	bad := &EndpointError{Entry: s, Problem: err.Error()}
	if meant, ok := mean(s); ok {
		bad.Normal = meant.String()
	}
	return Endpoint{}, bad
}

func parseEndpoint(s string) (Endpoint, error) {
	if err := checkShape(s); err != nil {
		return Endpoint{}, err
	}
	host, port, err := splitPort(s)
	if err != nil {
		return Endpoint{}, err
	}
	var ports portSet
	if len(host) < len(s) { // a colon: there must be something after it
		if ports, err = parsePorts(port); err != nil {
			return Endpoint{}, err
		}
	}
	e, err := parseWhere(host)
	if err != nil {
		return Endpoint{}, err
	}
	e.ports = ports
	return e.settle()
}

// checkShape names what people write by mistake before it's read as a part of a name.
func checkShape(s string) error {
	switch {
	case s == "":
		return errors.New("empty")
	case len(s) > maxSpelling:
		return errors.New("too long")
	case strings.Contains(s, "://"):
		return errors.New("it is a URL, not a host and a port")
	case strings.ContainsAny(s, ", \t\r\n;"):
		return errors.New("each entry is one endpoint, with one port, and without spaces")
	case strings.IndexByte(s, '@') >= 0:
		return errors.New("it names a user; only a host and a port count")
	case s == "*" || strings.HasPrefix(s, "*:"):
		return errors.New(`every name is no endpoint: that is mode "open"`)
	}
	return nil
}

func parsePorts(s string) (portSet, error) {
	switch {
	case s == "*":
		return portSet{any: true}, nil
	case s == "":
		return portSet{}, errors.New("no port after the colon")
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return portSet{}, fmt.Errorf("port %.20q is neither a number from 1 to 65535 nor *", s)
	}
	return portSet{one: uint16(n)}, nil
}

// parseWhere reads an endpoint without its port.
func parseWhere(s string) (Endpoint, error) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		return parseNetwork(strings.TrimSuffix(inner, "]"), true)
	}
	if below, ok := strings.CutPrefix(s, "*."); ok {
		n, err := parseWildcard(below)
		return Endpoint{kind: kindBelow, name: n}, err
	}
	switch {
	case strings.IndexByte(s, '*') >= 0:
		return Endpoint{}, errors.New("a wildcard is *. and the name below which all is meant")
	case strings.IndexByte(s, '/') >= 0, endsInNumber(strings.ToLower(strings.TrimRight(s, "."))):
		return parseNetwork(s, false)
	}
	n, err := ParseName(s)
	if err != nil {
		return Endpoint{}, errors.Unwrap(err)
	}
	return Endpoint{kind: kindExact, name: n}, nil
}

func parseWildcard(below string) (Name, error) {
	if strings.IndexByte(below, '*') >= 0 {
		return Name{}, errors.New("a wildcard has one *, in front")
	}
	n, err := ParseName(below)
	if err != nil {
		return Name{}, errors.Unwrap(err)
	}
	if n == localhost || n.Under(localhost) {
		return Name{}, errors.New("a port of this machine is named as localhost:PORT")
	}
	return n, nil
}

// parseNetwork reads an address or a network as netip does, IPv6 in brackets. Other spellings of numbers are for clients;
// in a rule they would hide what is meant.
func parseNetwork(s string, bracketed bool) (Endpoint, error) {
	text, length, isNetwork := strings.Cut(s, "/")
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		return Endpoint{}, errors.New("neither a name, an address nor a network")
	case a.Zone() != "":
		return Endpoint{}, errors.New("a zone has no meaning outside this machine")
	case a.Is6() && !bracketed:
		return Endpoint{}, errors.New("an IPv6 address stands in brackets")
	case a.Is4() && bracketed:
		return Endpoint{}, errors.New("an IPv4 address stands without brackets")
	case !isNetwork:
		a = Unwrap(a)
		return Endpoint{kind: kindNetwork, network: netip.PrefixFrom(a, a.BitLen())}, nil
	}
	n, err := parseLength(a, length)
	if err != nil {
		return Endpoint{}, err
	}
	return Endpoint{kind: kindNetwork, network: n}, nil
}

func parseLength(a netip.Addr, length string) (netip.Prefix, error) {
	bits, err := strconv.Atoi(length)
	if err != nil || bits < 0 || bits > a.BitLen() || strconv.Itoa(bits) != length {
		return netip.Prefix{}, fmt.Errorf("a network's length is a number from 0 to %d", a.BitLen())
	}
	n := netip.PrefixFrom(a, bits)
	if n != n.Masked() {
		return netip.Prefix{}, errors.New("an address inside a network, not the network")
	}
	for _, w := range wrappers {
		own := w == compatible && bits == a.BitLen() && isOwn(a.As16())
		if a.Is6() && bits >= w.Bits() && w.Contains(a) && !own {
			return netip.Prefix{}, errors.New("its addresses hold IPv4 addresses, and are judged as these: name the IPv4 network")
		}
	}
	return n, nil
}

// settle tells this machine's ports from other endpoints, and refuses what would be neither.
func (e Endpoint) settle() (Endpoint, error) {
	switch {
	case e.spellsMachine() && e.ports.any:
		return Endpoint{}, errors.New("this machine's ports are named one by one")
	case e.spellsMachine():
		e.kind = kindMachine
		return e, nil
	case e.kind == kindExact && isMachineName(e.name),
		e.kind == kindNetwork && classOfNetwork(e.network) == ClassMachine:
		return Endpoint{}, errors.New("a port of this machine is named as localhost:PORT")
	case e.kind == kindExact && e.name == ProxyName:
		return Endpoint{}, errors.New("it is the sandbox's own proxy")
	}
	return e, nil
}
