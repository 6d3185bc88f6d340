package policy

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestEndpointsHaveOneForm(t *testing.T) {
	for sentence, c := range map[string]struct{ entry, normal string }{
		"a name":                                   {"api.github.com", "api.github.com"},
		"a name in capitals with a dot":            {"Allowed.TEST.", "allowed.test"},
		"a name in another script":                 {"bücher.test:443", "xn--bcher-kva.test:443"},
		"a name with a port":                       {"github.com:22", "github.com:22"},
		"a name with any port":                     {"github.com:*", "github.com:*"},
		"a port with noughts before it":            {"github.com:0022", "github.com:22"},
		"a single label":                           {"db:5432", "db:5432"},
		"all below a name":                         {"*.example.org", "*.example.org"},
		"all below a name, in capitals":            {"*.Example.ORG.:8443", "*.example.org:8443"},
		"all below a top-level domain":             {"*.test", "*.test"},
		"an IPv4 address":                          {"203.0.113.10", "203.0.113.10"},
		"an IPv4 address with a port":              {"203.0.113.10:22", "203.0.113.10:22"},
		"an IPv6 address":                          {"[2001:db8::1]", "[2001:db8::1]"},
		"an IPv6 address, written long":            {"[2001:0DB8:0::1]:443", "[2001:db8::1]:443"},
		"a mapped address is the IPv4 address":     {"[::ffff:203.0.113.10]:443", "203.0.113.10:443"},
		"a NAT64 address is the IPv4 address":      {"[64:ff9b::cb00:710a]", "203.0.113.10"},
		"an IPv4 network":                          {"10.1.0.0/16:5432", "10.1.0.0/16:5432"},
		"an IPv4 network of one":                   {"203.0.113.10/32:22", "203.0.113.10:22"},
		"all of IPv4":                              {"0.0.0.0/0", "0.0.0.0/0"},
		"an IPv6 network":                          {"[2001:db8::/32]:443", "[2001:db8::/32]:443"},
		"an IPv6 network of one":                   {"[2001:db8::1/128]", "[2001:db8::1]"},
		"all of IPv6":                              {"[::/0]:*", "[::/0]:*"},
		"this machine":                             {"localhost:5432", "localhost:5432"},
		"this machine, without a port":             {"localhost", "localhost"},
		"this machine by address":                  {"127.0.0.1:5432", "127.0.0.1:5432"},
		"this machine by IPv6 address":             {"[::1]:443", "[::1]:443"},
		"this machine by IPv6 address, as network": {"[::1/128]:443", "[::1]:443"},
		"this machine by its name in the room":     {"host.lnk.internal:11434", "host.lnk.internal:11434"},
		"this machine by its name in containers":   {"host.docker.internal:11434", "host.docker.internal:11434"},
		"a metadata service is well formed":        {"169.254.169.254", "169.254.169.254"},
		"a metadata service's name is well formed": {"metadata.google.internal:80", "metadata.google.internal:80"},
	} {
		t.Run(sentence, func(t *testing.T) {
			e, err := ParseEndpoint(c.entry)
			if err != nil || e.String() != c.normal {
				t.Fatalf("ParseEndpoint(%q) = %q, %v; want %q", c.entry, e, err, c.normal)
			}
			if again, err := ParseEndpoint(c.normal); err != nil || again != e {
				t.Errorf("%q isn't its own form: %q, %v", c.normal, again, err)
			}
		})
	}
}

func TestWhatIsNoEndpoint(t *testing.T) {
	for sentence, c := range map[string]struct{ entry, problem, normal string }{
		"nothing":                          {"", "empty", ""},
		"a port alone":                     {":443", "empty", ""},
		"every name":                       {"*", `every name is no endpoint: that is mode "open"`, ""},
		"every name at a port":             {"*:443", `every name is no endpoint: that is mode "open"`, ""},
		"a wildcard without its dot":       {"*good.test", "a wildcard is *. and the name below which all is meant", "*.good.test"},
		"a wildcard at the end":            {"good.*", "a wildcard is *. and the name below which all is meant", ""},
		"a wildcard in the middle":         {"a.*.test", "a wildcard is *. and the name below which all is meant", ""},
		"a wildcard inside a label":        {"a*.good.test", "a wildcard is *. and the name below which all is meant", ""},
		"two wildcards":                    {"*.*.test", "a wildcard has one *, in front", ""},
		"a wildcard of nothing":            {"*.", "empty", ""},
		"a wildcard of an address":         {"*.203.0.113.10", "it ends in a number, as an address does", ""},
		"a wildcard of this machine":       {"*.localhost", "a port of this machine is named as localhost:PORT", ""},
		"a URL":                            {"https://good.test/", "it is a URL, not a host and a port", "good.test"},
		"a URL with a port and a path":     {"https://good.test:8443/x?y", "it is a URL, not a host and a port", "good.test:8443"},
		"a path":                           {"good.test/path", "neither a name, an address nor a network", "good.test"},
		"a user":                           {"git@github.com:22", "it names a user; only a host and a port count", ""},
		"a user and a password":            {"u:p@good.test", "it names a user; only a host and a port count", ""},
		"port 0":                           {"good.test:0", `port "0" is neither a number from 1 to 65535 nor *`, ""},
		"a port too high":                  {"good.test:65536", `port "65536" is neither a number from 1 to 65535 nor *`, ""},
		"a port below nought":              {"good.test:-1", `port "-1" is neither a number from 1 to 65535 nor *`, ""},
		"a port by name":                   {"good.test:http", `port "http" is neither a number from 1 to 65535 nor *`, ""},
		"a range of ports":                 {"good.test:80-90", `port "80-90" is neither a number from 1 to 65535 nor *`, ""},
		"no port after the colon":          {"good.test:", "no port after the colon", ""},
		"several ports":                    {"good.test:80,443", "each entry is one endpoint, with one port, and without spaces", ""},
		"ports of several kinds":           {"good.test:80,*", "each entry is one endpoint, with one port, and without spaces", ""},
		"two ports":                        {"good.test:80:443", "an IPv6 address without brackets", ""},
		"two endpoints":                    {"a.test, b.test", "each entry is one endpoint, with one port, and without spaces", ""},
		"a space before it":                {" good.test", "each entry is one endpoint, with one port, and without spaces", "good.test"},
		"a line's end after it":            {"good.test\n", "each entry is one endpoint, with one port, and without spaces", "good.test"},
		"an empty label":                   {"good..test", "an empty label", ""},
		"a label too long":                 {strings.Repeat("a", 64) + ".test", "a label longer than 63 octets", ""},
		"an entry too long":                {strings.Repeat("a.", 1000), "too long", ""},
		"an octet that isn't UTF-8":        {"good\xff.test", "not UTF-8", ""},
		"an escape":                        {"good%2etest", "'%' can't stand in a name", ""},
		"a network with host bits":         {"10.1.2.3/16", "an address inside a network, not the network", "10.1.0.0/16"},
		"a network with host bits, a port": {"10.1.2.3/16:22", "an address inside a network, not the network", "10.1.0.0/16:22"},
		"an IPv6 network with host bits":   {"[2001:db8::1/32]:443", "an address inside a network, not the network", "[2001:db8::/32]:443"},
		"a network too long":               {"10.0.0.0/33", "a network's length is a number from 0 to 32", ""},
		"a network without a length":       {"203.0.113.10/", "a network's length is a number from 0 to 32", "203.0.113.10"},
		"a network with a mask":            {"10.0.0.0/255.0.0.0", "a network's length is a number from 0 to 32", ""},
		"a network of a name":              {"good.test/24", "neither a name, an address nor a network", ""},
		"a length with a nought before it": {"10.0.0.0/08", "a network's length is a number from 0 to 32", ""},
		"an IPv6 address without brackets": {"2001:db8::1", "an IPv6 address without brackets", "[2001:db8::1]"},
		"an IPv6 network without brackets": {"2001:db8::/32", "an IPv6 address without brackets", "[2001:db8::/32]"},
		"an IPv4 address in brackets":      {"[203.0.113.10]:22", "an IPv4 address stands without brackets", "203.0.113.10:22"},
		"a bracket that is left open":      {"[2001:db8::1", "a bracket without its other", "[2001:db8::1]"},
		"a length outside the brackets":    {"[2001:db8::]/32", "something between the bracket and the port", "[2001:db8::/32]"},
		"a zone":                           {"[fe80::1%eth0]:80", "a zone has no meaning outside this machine", "[fe80::1]:80"},
		"a network of mapped addresses":    {"[::ffff:10.0.0.0/104]", "its addresses hold IPv4 addresses, and are judged as these: name the IPv4 network", "10.0.0.0/8"},
		"a network of NAT64 addresses":     {"[64:ff9b::cb00:7100/120]:22", "its addresses hold IPv4 addresses, and are judged as these: name the IPv4 network", "203.0.113.0/24:22"},
		"a network of 6to4 addresses":      {"[2002:cb00:7142::/48]", "its addresses hold IPv4 addresses, and are judged as these: name the IPv4 network", ""},
		"the compatible addresses":         {"[::/96]", "its addresses hold IPv4 addresses, and are judged as these: name the IPv4 network", ""},
		"a number for an address":          {"3405803786:22", "neither a name, an address nor a network", "203.0.113.10:22"},
		"a hexadecimal address":            {"0xCB.0.113.10", "neither a name, an address nor a network", "203.0.113.10"},
		"an address with a nought before":  {"203.0.113.010", "neither a name, an address nor a network", ""},
		"a short loopback address":         {"127.1:80", "neither a name, an address nor a network", "localhost:80"},
		"another loopback address":         {"127.0.0.2:80", "a port of this machine is named as localhost:PORT", "localhost:80"},
		"the unspecified address":          {"0.0.0.0:80", "a port of this machine is named as localhost:PORT", "localhost:80"},
		"the unspecified IPv6 address":     {"[::]:80", "a port of this machine is named as localhost:PORT", "localhost:80"},
		"the loopback network":             {"127.0.0.0/8", "a port of this machine is named as localhost:PORT", ""},
		"a name below localhost":           {"x.localhost:3000", "a port of this machine is named as localhost:PORT", ""},
		"all of this machine's ports":      {"localhost:*", "this machine's ports are named one by one", ""},
		"the sandbox's own proxy":          {"proxy.lnk.internal:3128", "it is the sandbox's own proxy", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			e, err := ParseEndpoint(c.entry)
			if err == nil || e != (Endpoint{}) {
				t.Fatalf("ParseEndpoint(%.80q) = %q, want an error", c.entry, e)
			}
			bad, ok := errors.AsType[*EndpointError](err)
			if !ok || bad.Entry != c.entry || bad.Problem != c.problem || bad.Normal != c.normal {
				t.Errorf("ParseEndpoint(%.80q): %v; want %q, write %q", c.entry, err, c.problem, c.normal)
			}
		})
	}
}

func TestAnErrorQuotesTheEntryAndSaysWhatToWrite(t *testing.T) {
	_, err := ParseEndpoint("10.1.2.3/16\x1b")
	if want := `endpoint "10.1.2.3/16\x1b": a network's length is a number from 0 to 32`; err.Error() != want {
		t.Errorf("%s, want %s", err, want)
	}
	_, err = ParseEndpoint("10.1.2.3/16:22")
	if want := `endpoint "10.1.2.3/16:22": an address inside a network, not the network; write "10.1.0.0/16:22"`; err.Error() != want {
		t.Errorf("%s, want %s", err, want)
	}
}

func TestWhichEndpointsAreThisMachines(t *testing.T) {
	for entry, want := range map[string]bool{"localhost:80": true, "127.0.0.1": true, "[::1]:22": true, "host.docker.internal:80": true, "allowed.test": false, "*.allowed.test": false, "203.0.113.10": false} {
		if got := endpoint(t, entry).IsMachine(); got != want {
			t.Errorf("%s: %v", entry, got)
		}
	}
}

func TestAnEndpointThatIsSuggestedAllowsTheCall(t *testing.T) {
	for sentence, c := range map[string]struct {
		host string
		port uint16
		want string
	}{
		"a name at a usual port":          {"denied.test", 443, "denied.test"},
		"a name at the other usual port":  {"denied.test", 80, "denied.test"},
		"a name at another port":          {"denied.test", 8443, "denied.test:8443"},
		"an address":                      {"203.0.113.66", 22, "203.0.113.66:22"},
		"an IPv6 address":                 {"2001:db8::66", 443, "[2001:db8::66]"},
		"a wrapped address":               {"[64:ff9b::cb00:7142]", 443, "203.0.113.66"},
		"this machine":                    {"localhost", 5432, "localhost:5432"},
		"a name below localhost":          {"app.localhost", 3000, "localhost:3000"},
		"this machine, at a usual port":   {"127.0.0.1", 443, "localhost:443"},
		"this machine by another address": {"127.0.0.2", 5432, "localhost:5432"},
		"this machine inside the room":    {"198.18.0.3", 5432, "localhost:5432"},
		"this machine's name":             {"host.docker.internal", 5432, "localhost:5432"},
		"a metadata service":              {"169.254.169.254", 80, ""},
		"a metadata service's name":       {"metadata.google.internal", 80, ""},
		"a link-local address":            {"fe80::1", 80, ""},
		"a name that is never looked up":  {"a.invalid", 80, ""},
		"the sandbox's proxy":             {"proxy.lnk.internal", 3128, ""},
		"no port":                         {"denied.test", 0, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := host(t, c.host)
			e := EndpointFor(h, c.port)
			if e.String() != c.want {
				t.Fatalf("EndpointFor(%s, %d) = %q, want %q", h, c.port, e, c.want)
			}
			if c.want == "" {
				return
			}
			if parsed, err := ParseEndpoint(c.want); err != nil || parsed != e {
				t.Errorf("%q is read as %q, %v", c.want, parsed, err)
			}
			if d := rules(t, ModeEndpoints, []string{c.want}).Shown(h, c.port); !d.Allowed {
				t.Errorf("with %s, a call to %s at %d is %+v", e, h, c.port, d)
			}
		})
	}
	if e := EndpointFor(Host{}, 80); e != (Endpoint{}) {
		t.Errorf("nothing suggests %s", e)
	}
}

func TestEndpointsThatAreOfNoUse(t *testing.T) {
	for entry, want := range map[string]Reason{
		"allowed.test":               "",
		"*.allowed.test":             "",
		"203.0.113.10":               "",
		"10.0.0.0/8":                 "",
		"0.0.0.0/0":                  "",
		"[::/0]":                     "",
		"100.64.0.0/10":              "",
		"localhost:80":               "",
		"169.254.169.254":            ReasonMetadata,
		"[64:ff9b::a9fe:a9fe]":       ReasonMetadata,
		"[fd00:ec2::254]:*":          ReasonMetadata,
		"168.63.129.16":              ReasonMetadata,
		"metadata.google.internal":   ReasonMetadata,
		"169.254.0.0/16":             ReasonLinkLocal,
		"[fe80::/10]":                ReasonLinkLocal,
		"224.0.0.0/4":                ReasonMulticast,
		"255.255.255.255":            ReasonBroadcast,
		"198.18.0.1":                 ReasonReserved,
		"240.0.0.0/8":                ReasonReserved,
		"a.invalid":                  ReasonFixedName,
		"*.invalid":                  ReasonFixedName,
		"8.8.in-addr.arpa":           "",
		"1.0.0.10.in-addr.arpa":      ReasonFixedName,
		"something.lnk.internal:443": ReasonFixedName,
	} {
		if got := endpoint(t, entry).Never(); got != want {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
	if (Endpoint{}).Never() == "" || (Endpoint{}).String() != "" {
		t.Error("the zero endpoint is of use")
	}
}

func FuzzParseEndpoint(f *testing.F) {
	for _, s := range spellings {
		f.Add(s)
		f.Add(s + ":443")
	}
	for _, s := range []string{"*.a.test:*", "10.0.0.0/8:22", "[2001:db8::/32]:443", "[::ffff:10.0.0.0/104]", "0.0.0.0/0", "[::/0]", "localhost:80", "https://a.test:1/2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseEndpoint(s)
		if err != nil {
			bad, ok := errors.AsType[*EndpointError](err)
			if !ok || e != (Endpoint{}) {
				t.Fatalf("%q: %q, %v", s, e, err)
			}
			if bad.Normal == "" {
				return
			}
			if e, err = ParseEndpoint(bad.Normal); err != nil || e.String() != bad.Normal {
				t.Fatalf("%q: told to write %q, which is %q, %v", s, bad.Normal, e, err)
			}
			return
		}
		if again, err := ParseEndpoint(e.String()); err != nil || again != e {
			t.Fatalf("%q: %q isn't its own form: %q, %v", s, e, again, err)
		}
		if _, err := NewRules(ModeEndpoints, []Endpoint{e}, nil); err != nil {
			t.Fatalf("%q: no rules: %v", s, err)
		}
	})
}

// endpoint, host, addr and rules are what their text says, or the test ends.
func endpoint(t testing.TB, s string) Endpoint {
	t.Helper()
	e, err := ParseEndpoint(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func host(t testing.TB, s string) Host {
	t.Helper()
	h, err := ParseHost(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func rules(t testing.TB, mode Mode, endpoints []string, ports ...uint16) Rules {
	t.Helper()
	var list []Endpoint
	for _, s := range endpoints {
		list = append(list, endpoint(t, s))
	}
	r, err := NewRules(mode, list, ports)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
