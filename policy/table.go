package policy

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// table is rules made ready to be asked: a call costs a few map look-ups however many endpoints there are. Each map's value is the rule
// as it is reported.
type table struct {
	mode      Mode
	endpoints []Endpoint
	ports     []uint16

	exact    map[nameAt]string    // names themselves
	below    map[nameAt]string    // what wildcards lie under
	networks map[networkAt]string // literal addresses
	machine  map[uint16]string    // this machine's ports

	exactNames map[Name]string // the names of exact, at whatever port
	belowNames map[Name]string // the names of below, at whatever port
	shows      map[uint16]bool // the ports of exact and below
	lengths4   []int           // the lengths of IPv4 networks, longest first
	lengths6   []int           // the lengths of IPv6 networks, longest first
}

// nameAt is a name at a port; port 0 is any.
type nameAt struct {
	name Name
	port uint16
}

// networkAt is a network at a port; port 0 is any.
type networkAt struct {
	network netip.Prefix
	port    uint16
}

func newTable(mode Mode, endpoints []Endpoint, ports []uint16) *table {
	t := &table{
		mode:       mode,
		exact:      map[nameAt]string{},
		below:      map[nameAt]string{},
		networks:   map[networkAt]string{},
		machine:    map[uint16]string{},
		exactNames: map[Name]string{},
		belowNames: map[Name]string{},
		shows:      map[uint16]bool{},
	}
	seen := map[Endpoint]bool{}
	for _, e := range endpoints {
		if !seen[e] {
			seen[e] = true
			t.add(e)
		}
	}
	for _, p := range ports {
		setFirst(t.machine, p, "localhost:"+strconv.Itoa(int(p)))
	}
	for p := range t.machine {
		t.ports = append(t.ports, p)
	}
	slices.Sort(t.ports)
	longestFirst(t.lengths4)
	longestFirst(t.lengths6)
	return t
}

func longestFirst(lengths []int) {
	slices.Sort(lengths)
	slices.Reverse(lengths)
}

func (t *table) add(e Endpoint) {
	t.endpoints = append(t.endpoints, e)
	rule := e.String()
	for _, port := range e.ports.list() {
		switch e.kind {
		case kindExact:
			setFirst(t.exact, nameAt{e.name, port}, rule)
			setFirst(t.exactNames, e.name, rule)
			t.shows[port] = true
		case kindBelow:
			setFirst(t.below, nameAt{e.name, port}, rule)
			setFirst(t.belowNames, e.name, rule)
			t.shows[port] = true
		case kindNetwork:
			setFirst(t.networks, networkAt{e.network, port}, rule)
			t.addLength(e.network)
		case kindMachine:
			setFirst(t.machine, port, rule)
		}
	}
}

// setFirst keeps what was set before: of two rules that say the same, the first is reported.
func setFirst[K comparable](m map[K]string, key K, rule string) {
	if _, ok := m[key]; !ok {
		m[key] = rule
	}
}

func (t *table) addLength(n netip.Prefix) {
	lengths := &t.lengths6
	if n.Addr().Is4() {
		lengths = &t.lengths4
	}
	if !slices.Contains(*lengths, n.Bits()) {
		*lengths = append(*lengths, n.Bits())
	}
}

// exactRule is the rule that names n itself at that port.
func (t *table) exactRule(n Name, port uint16) (string, bool) {
	if _, ok := t.exactNames[n]; !ok {
		return "", false
	}
	return atPort(t.exact, nameAt{n, port}, nameAt{n, 0})
}

// belowRule is the rule of the nearest wildcard that holds n at that port.
func (t *table) belowRule(n Name, port uint16) (string, bool) {
	if len(t.belowNames) == 0 {
		return "", false
	}
	for up := n.parent(); !up.IsZero(); up = up.parent() {
		if _, ok := t.belowNames[up]; !ok {
			continue
		}
		if rule, ok := atPort(t.below, nameAt{up, port}, nameAt{up, 0}); ok {
			return rule, true
		}
	}
	return "", false
}

// networkRule is the rule of the longest network that holds a at that port; for a private address, of a network that is
// private from end to end.
func (t *table) networkRule(a netip.Addr, port uint16, private bool) (string, bool) {
	lengths := t.lengths6
	if a.Is4() {
		lengths = t.lengths4
	}
	for _, bits := range lengths {
		n := netip.PrefixFrom(a, bits).Masked()
		rule, ok := atPort(t.networks, networkAt{n, port}, networkAt{n, 0})
		if ok && (!private || classOfNetwork(n) == ClassPrivate) {
			return rule, true
		}
	}
	return "", false
}

func atPort[K comparable](m map[K]string, this, any K) (string, bool) {
	rule, ok := m[this]
	if !ok {
		rule, ok = m[any]
	}
	return rule, ok
}

// lookup is the rule that names n at some port, itself, by a wildcard, or as a service of a name.
func (t *table) lookup(n Name) (string, bool) {
	if rule, ok := t.exactNames[n]; ok {
		return rule, true
	}
	if rule, ok := t.exactNames[withoutService(n)]; ok {
		return rule, true
	}
	if len(t.belowNames) == 0 {
		return "", false
	}
	for up := n.parent(); !up.IsZero(); up = up.parent() {
		if rule, ok := t.belowNames[up]; ok {
			return rule, true
		}
	}
	return "", false
}

// maxServiceLabel is the longest service label: 15 characters (RFC 6335, section 5.1) and the underscore. Short labels leave
// little room to carry something out in.
const maxServiceLabel = 16

// withoutService is n without the one or two labels in front that name a service of it, as SRV (RFC 2782), HTTPS
// (RFC 9460, section 2.3) and other records of RFC 8552 have them.
func withoutService(n Name) Name {
	for range 2 {
		label, rest, _ := strings.Cut(n.s, ".")
		if !strings.HasPrefix(label, "_") || len(label) > maxServiceLabel {
			break
		}
		n = Name{rest}
	}
	return n
}
