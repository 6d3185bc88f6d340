package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The generators draw from a small world, so that rules and calls often meet.
var (
	worldNames  = []string{"allowed.test", "a.allowed.test", "a.b.allowed.test", "test", "notallowed.test", "db", "bücher.test", "db.corp", "metadata", "a.invalid", "localhost", "app.localhost", "proxy.lnk.internal"}
	worldAddrs  = []string{"203.0.113.10", "203.0.113.66", "10.1.2.3", "192.168.7.5", "127.0.0.1", "::1", "0.0.0.0", "169.254.169.254", "169.254.1.1", "100.100.100.200", "2001:db8::10", "fd12::1", "fd00:ec2::254", "fe80::1", "198.18.0.3", "198.18.0.2", "198.18.1.7", "224.0.0.1", "64:ff9b::cb00:710a", "2002:a01:203::1", "::ffff:203.0.113.10"}
	worldPorts  = []uint16{22, 80, 443, 5432, 8443}
	worldRules  = []string{"203.0.113.10", "203.0.113.0/24", "0.0.0.0/0", "10.1.2.3", "10.1.0.0/16", "10.0.0.0/8", "192.168.0.0/16", "169.254.169.254", "169.254.0.0/16", "100.64.0.0/10", "[2001:db8::10]", "[2001:db8::/32]", "[::/0]", "[fd00::/8]", "[fe80::1]", "224.0.0.0/4"}
	worldSuffix = []string{"", "", ":*", ":22", ":443", ":5432"}
)

func drawEndpoint(t *rapid.T) Endpoint {
	base := rapid.SampledFrom(worldRules).Draw(t, "address")
	if rapid.Bool().Draw(t, "named") {
		base = rapid.SampledFrom(worldNames).Draw(t, "name")
		if rapid.Bool().Draw(t, "wildcard") {
			base = "*." + base
		}
	}
	e, err := ParseEndpoint(base + rapid.SampledFrom(worldSuffix).Draw(t, "ports"))
	if err != nil { // *.localhost and the like
		return Endpoint{kind: kindExact, name: mustName("spare.test")}
	}
	return e
}

type drawnRules struct {
	mode      Mode
	endpoints []Endpoint
	ports     []uint16
}

func drawRules(t *rapid.T) drawnRules {
	return drawnRules{
		mode:      rapid.SampledFrom([]Mode{ModeEndpoints, ModeEndpoints, ModeOpen}).Draw(t, "mode"),
		endpoints: rapid.SliceOfN(rapid.Custom(drawEndpoint), 0, 6).Draw(t, "endpoints"),
		ports:     rapid.SliceOfN(rapid.SampledFrom(worldPorts), 0, 2).Draw(t, "this machine's ports"),
	}
}

func (d drawnRules) rules(t *rapid.T) Rules {
	r, err := NewRules(d.mode, d.endpoints, d.ports)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// call is a call that rules are asked about.
type call struct {
	to    netip.AddrPort
	names []Name
	shown Host
}

func drawCall(t *rapid.T) call {
	c := call{to: netip.AddrPortFrom(addr(rapid.SampledFrom(worldAddrs).Draw(t, "to")), rapid.SampledFrom(worldPorts).Draw(t, "port"))}
	for _, s := range rapid.SliceOfN(rapid.SampledFrom(worldNames), 0, 3).Draw(t, "names") {
		c.names = append(c.names, mustName(s))
	}
	c.shown = HostAt(c.to.Addr())
	if rapid.Bool().Draw(t, "shows a name") {
		c.shown = HostNamed(mustName(rapid.SampledFrom(worldNames).Draw(t, "shown")))
	}
	return c
}

func isLocal(a netip.Addr) bool { return a == addr("192.168.7.5") }

// decisions are what rules say to a call, by method.
func decisions(r Rules, c call) map[string]Decision {
	d := map[string]Decision{
		"connection": r.Connection(c.to, c.names),
		"shown":      r.Shown(c.shown, c.to.Port()),
		"address":    r.Address(c.to, c.shown, isLocal),
		"port":       r.Port(c.to.Port()),
	}
	for _, n := range c.names {
		d["lookup "+n.String()] = r.Lookup(n)
	}
	return d
}

func TestTheZeroValueDeniesEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCall(t)
		for how, d := range decisions(Rules{}, c) {
			if d.Allowed || d.Reason == "" {
				t.Errorf("%s: %+v", how, d)
			}
		}
		if (Rules{}).CanShow(c.to.Port()) {
			t.Error("some name could be allowed")
		}
	})
}

func TestAnEndpointMoreNeverForbids(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn, c := drawRules(t), drawCall(t)
		before := decisions(drawn.rules(t), c)
		more := drawn
		more.endpoints = append(slices.Clone(drawn.endpoints), drawEndpoint(t))
		more.ports = append(slices.Clone(drawn.ports), rapid.SampledFrom(worldPorts).Draw(t, "port more"))
		for how, d := range decisions(more.rules(t), c) {
			if before[how].Allowed && !d.Allowed {
				t.Errorf("%s: %+v with %v, and with one more %+v", how, before[how], drawn, d)
			}
		}
	})
}

func TestOrderDecidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn, c := drawRules(t), drawCall(t)
		turned := drawnRules{drawn.mode, slices.Clone(drawn.endpoints), slices.Clone(drawn.ports)}
		slices.Reverse(turned.endpoints)
		slices.Reverse(turned.ports)
		other := c
		other.names = slices.Clone(c.names)
		slices.Reverse(other.names)
		want := decisions(drawn.rules(t), c)
		for how, d := range decisions(turned.rules(t), other) {
			if d.Allowed != want[how].Allowed || d.Reason != want[how].Reason {
				t.Errorf("%s: %+v in one order, %+v in the other", how, want[how], d)
			}
		}
	})
}

func TestNothingLiftsWhatIsNeverCalled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn, c := drawRules(t), drawCall(t)
		r := drawn.rules(t)
		class := Classify(c.to.Addr())
		connection, address := r.Connection(c.to, c.names), r.Address(c.to, c.shown, isLocal)
		if class == ClassMetadata && (connection.Reason != ReasonMetadata || address.Reason != ReasonMetadata) {
			t.Errorf("%s: %+v, %+v", c.to, connection, address)
		}
		if class == ClassLinkLocal || class == ClassMulticast {
			if connection.Allowed || address.Allowed {
				t.Errorf("%s: %+v, %+v", c.to, connection, address)
			}
		}
		port := r.Port(c.to.Port())
		if class == ClassMachine && (connection != port && connection.Reason != ReasonMetadata || address != port && address.Reason != ReasonMetadata) {
			t.Errorf("%s is this machine's: %+v, %+v, %+v", c.to, connection, address, port)
		}
		if isLocal(Unwrap(c.to.Addr())) && address.Allowed != port.Allowed && address.Reason != ReasonMetadata {
			t.Errorf("%s is an interface's: %+v, %+v", c.to, address, port)
		}
	})
}

// TestRulesAgreeWithAPlainReading compares the tables with a reading of each endpoint on its own.
func TestRulesAgreeWithAPlainReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn, c := drawRules(t), drawCall(t)
		where, port := Unwrap(c.to.Addr()), c.to.Port()
		class := Classify(c.to.Addr())
		if class != ClassPublic && class != ClassPrivate || isRoomAddr(where) || slices.ContainsFunc(c.names, isMetadataName) {
			return
		}
		want := drawn.mode == ModeOpen && class == ClassPublic
		for _, e := range drawn.endpoints {
			want = want || plainly(e, where, port, class, c.names)
		}
		if got := drawn.rules(t).Connection(c.to, c.names); got.Allowed != want {
			t.Errorf("%v, %s for %v: %+v, want allowed %v", drawn, c.to, c.names, got, want)
		}
	})
}

func isMetadataName(n Name) bool { _, ok := MetadataName(n); return ok }

// plainly reports whether one endpoint allows a call, read as a person would.
func plainly(e Endpoint, where netip.Addr, port uint16, class Class, names []Name) bool {
	text := e.String()
	at := strings.LastIndex(text, ":")
	if strings.HasSuffix(text, "]") || at < 0 {
		if port != 80 && port != 443 {
			return false
		}
	} else {
		if p := text[at+1:]; p != "*" && p != fmt.Sprint(port) {
			return false
		}
		text = text[:at]
	}
	text = strings.Trim(text, "[]")
	if below, ok := strings.CutPrefix(text, "*"); ok {
		return class == ClassPublic && slices.ContainsFunc(names, func(n Name) bool { return strings.HasSuffix(n.String(), below) })
	}
	if network, err := netip.ParsePrefix(text); err == nil {
		return network.Contains(where) && (class == ClassPublic || network.Bits() >= 8)
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return a == where
	}
	return e.kind != kindMachine && slices.ContainsFunc(names, func(n Name) bool { return n.String() == text })
}

// respell writes a name in some other way that means the same.
func respell(t *rapid.T, name string) string {
	var b strings.Builder
	for _, c := range name {
		switch how := rapid.IntRange(0, 5).Draw(t, "how"); {
		case how == 1:
			b.WriteString(strings.ToUpper(string(c)))
		case how == 2 && c == '.':
			b.WriteRune(rapid.SampledFrom([]rune("。．｡")).Draw(t, "stop"))
		case how == 2 && 'a' <= c && c <= 'z':
			b.WriteRune(c - 'a' + 'ａ')
		case how == 3 && 'a' <= c && c <= 'z':
			b.WriteRune(c - 'a' + 'Ａ')
		case how == 4:
			for _, octet := range []byte(string(c)) {
				fmt.Fprintf(&b, "%%%02x", octet)
			}
		case how == 5:
			b.WriteString(string(c) + "\u00ad")
		default:
			b.WriteRune(c)
		}
	}
	return b.String() + rapid.SampledFrom([]string{"", ".", "%2e", "。"}).Draw(t, "last stop")
}

func TestANameIsTheSameInEverySpelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"allowed.test", "a.b.allowed.test", "bücher.test", "xn--bcher-kva.test", "metadata.google.internal", "db"}).Draw(t, "name")
		spelt := respell(t, name)
		want := HostNamed(mustName(name))
		if h, err := ParseHost(spelt); err != nil || h != want {
			t.Fatalf("%q is %q, %v; want %s", spelt, h, err, want)
		}
		r, err := NewRules(ModeEndpoints, []Endpoint{{kind: kindExact, name: want.name}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		h, port, err := ParseHostPort(spelt+":443", 0)
		if err != nil {
			t.Fatal(err)
		}
		if d := r.Shown(h, port); d.Allowed == isMetadataName(want.name) {
			t.Fatalf("%q: %+v", spelt, d)
		}
	})
}

func TestAnAddressIsTheSameInEverySpelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "octets"))
		parts := rapid.IntRange(1, 4).Draw(t, "parts")
		var texts []string
		rest := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		for i := range parts {
			n := rest
			if i < parts-1 {
				n = rest >> 24
				rest = rest << 8
			} else {
				n = rest >> (8 * i)
			}
			format := rapid.SampledFrom([]string{"%d", "0x%x", "0X%X", "0%o", "000%o"}).Draw(t, "format")
			texts = append(texts, fmt.Sprintf(format, n))
		}
		spelt := respell(t, strings.Join(texts, "."))
		if h, err := ParseHost(spelt); err != nil || h != HostAt(netip.AddrFrom4(b)) {
			t.Fatalf("%q is %q, %v; want %s", spelt, h, err, netip.AddrFrom4(b))
		}
	})
}

func TestAnEndpointIsReadBackAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEndpoint(t)
		if again, err := ParseEndpoint(e.String()); err != nil || again != e {
			t.Fatalf("%q is read back as %q, %v", e, again, err)
		}
	})
}
