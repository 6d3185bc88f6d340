package policy

import (
	"net/netip"
	"strings"
	"testing"
)

// metadataSpellings are ways to write 169.254.169.254 that some client takes for it.
var metadataSpellings = []string{
	"169.254.169.254", "2852039166", "0xA9FEA9FE", "0xa9fea9fe", "025177524776", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376",
	"169.254.43518", "169.16689662", "169.0xfe.0251.254", "00000251.254.169.254", "0x000000a9.254.169.254", "0251.16689662",
	"169.254.169.254.", "169.254.169.254..", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::FFFF:A9FE:A9FE]",
	"[0:0:0:0:0:ffff:a9fe:a9fe]", "[0000:0000:0000:0000:0000:ffff:a9fe:a9fe]", "::ffff:169.254.169.254", "[::ffff:a9fe:a9fe%eth0]",
	"[169.254.169.254]", "１６９.２５４.１６９.２５４", "①⑥⑨.254.169.254", "169。254。169。254", "169．254．169．254", "169｡254｡169｡254",
	"169%2e254%2e169%2e254", "169%2E254.169.254", "%31%36%39.254.169.254", "169.254.169.25%34", "%ef%bc%91%ef%bc%96%ef%bc%99.254.169.254",
	"2852039166.", "0XA9FEA9FE", "169.254.169.254%2e", "169\u00ad.254.169.254",
}

func TestAddressesAreReadInEverySpelling(t *testing.T) {
	want := HostAt(netip.MustParseAddr("169.254.169.254"))
	for _, s := range metadataSpellings {
		if h, err := ParseHost(s); err != nil || h != want {
			t.Errorf("ParseHost(%q) = %q, %v; want %s", s, h, err, want)
		}
	}
}

func TestHosts(t *testing.T) {
	for sentence, c := range map[string]struct{ spelt, want string }{
		"a name":                             {"allowed.test", "allowed.test"},
		"a name in any case, with its dot":   {"ALLOWED.test.", "allowed.test"},
		"a name with an escaped dot":         {"allowed%2etest", "allowed.test"},
		"a name in escaped UTF-8":            {"b%C3%BCcher.test", "xn--bcher-kva.test"},
		"a name that begins with a number":   {"1.2.3.4.test", "1.2.3.4.test"},
		"an IPv4 address":                    {"203.0.113.10", "203.0.113.10"},
		"a short loopback address":           {"127.1", "127.0.0.1"},
		"a hexadecimal loopback address":     {"0x7f000001", "127.0.0.1"},
		"nought":                             {"0", "0.0.0.0"},
		"a bare 0x is nought":                {"0x", "0.0.0.0"},
		"the highest number":                 {"4294967295", "255.255.255.255"},
		"an IPv6 address in brackets":        {"[2001:db8::1]", "2001:db8::1"},
		"an IPv6 address without brackets":   {"2001:db8::1", "2001:db8::1"},
		"an IPv6 address with a zone":        {"[fe80::1%eth0]", "fe80::1"},
		"an IPv6 address, its zone escaped":  {"[fe80::1%25eth0]", "fe80::1"},
		"an IPv6 address, long":              {"[2001:0db8:0000:0000:0000:0000:0000:0001]", "2001:db8::1"},
		"a NAT64 address stays what it is":   {"[64:ff9b::cb00:7142]", "64:ff9b::cb00:7142"},
		"a compatible address stays, too":    {"[::203.0.113.66]", "::cb00:7142"},
		"a mapped address is an IPv4 one":    {"[::ffff:203.0.113.66]", "203.0.113.66"},
		"an address may be in escaped parts": {"203%2e0%2e113%2e10", "203.0.113.10"},
	} {
		t.Run(sentence, func(t *testing.T) {
			h, err := ParseHost(c.spelt)
			if err != nil || h.String() != c.want {
				t.Fatalf("ParseHost(%q) = %q, %v; want %q", c.spelt, h, err, c.want)
			}
			_, isName := h.Name()
			_, isAddr := h.Addr()
			if isName == isAddr || h.IsZero() {
				t.Errorf("%q: name %v, address %v, zero %v", c.spelt, isName, isAddr, h.IsZero())
			}
		})
	}
}

func TestWhatIsNoHost(t *testing.T) {
	for sentence, c := range map[string]struct{ spelt, why string }{
		"nothing":                          {"", "empty"},
		"a user":                           {"good.test@evil.test", "'@' can't stand in a name"},
		"a user, escaped":                  {"good.test%40evil.test", "'@' can't stand in a name"},
		"a NUL":                            {"good.test\x00.evil.test", `'\x00' can't stand in a name`},
		"a NUL, escaped":                   {"good.test%00.evil.test", `'\x00' can't stand in a name`},
		"escaped twice":                    {"allowed%252etest", "'%' can't stand in a name"},
		"an escape cut short":              {"allowed%2", "a percent escape that is cut short"},
		"an escape that is none":           {"allowed%zz", "a percent escape that isn't hexadecimal"},
		"an escape with a sign":            {"allowed%+1test", "a percent escape that isn't hexadecimal"},
		"a colon, escaped":                 {"allowed.test%3a80", "':' can't stand in a name"},
		"brackets, escaped":                {"%5b::1%5d", "neither a name nor an address"},
		"a bracket without its other":      {"[::1", "a bracket without its other"},
		"an empty bracket":                 {"[]", "neither a name nor an address"},
		"a name in brackets":               {"[allowed.test]", "neither a name nor an address"},
		"five parts":                       {"1.2.3.4.5", "an address of more than four parts"},
		"a part too big":                   {"256.1.1.1", "neither a name nor an address"},
		"a last part too big":              {"1.1.65536", ""},
		"a number too big":                 {"4294967296", "neither a name nor an address"},
		"an octal part with a 9":           {"0169.254.169.254", "neither a name nor an address"},
		"an empty part":                    {"169..254", "neither a name nor an address"},
		"a name that ends in a number":     {"allowed.0x1", "neither a name nor an address"},
		"a number with an underscore":      {"1_000.test.1_0", ""},
		"a number with a sign":             {"+1.2.3.4", "neither a name nor an address"},
		"an IPv6 address of nine groups":   {"[1:2:3:4:5:6:7:8:9]", "not an IPv6 address"},
		"an IPv6 address with two gaps":    {"[1::2::3]", "not an IPv6 address"},
		"a host and a port":                {"allowed.test:80", "not an IPv6 address"},
		"full-width slash":                 {"good.test／", "'/' can't stand in a name"},
		"dots alone":                       {"...", "an empty label"},
		"60 KB":                            {strings.Repeat("%41", 20<<10), "too long"},
		"octets that are not UTF-8":        {"%ff.test", "not UTF-8"},
		"a raw newline and a forged line":  {"a.test\n2026-11-30 x", `'\n' can't stand in a name`},
		"an A-label that decodes to ASCII": {"xn--allowed-.test", "xn-- holds no valid name"},
	} {
		t.Run(sentence, func(t *testing.T) {
			h, err := ParseHost(c.spelt)
			if c.why == "" { // only that it isn't what it might seem
				if a, ok := h.Addr(); ok && err == nil {
					t.Fatalf("ParseHost(%q) = %s", c.spelt, a)
				}
				return
			}
			if err == nil || !h.IsZero() {
				t.Fatalf("ParseHost(%.80q) = %q, want an error", c.spelt, h)
			}
			if !strings.HasSuffix(err.Error(), ": "+c.why) {
				t.Errorf("ParseHost(%.80q): %v, want %q", c.spelt, err, c.why)
			}
		})
	}
}

func TestHostsAndPorts(t *testing.T) {
	for sentence, c := range map[string]struct {
		spelt string
		deflt uint16
		host  string
		port  uint16
	}{
		"a host takes the default":               {"ALLOWED.test.", 80, "allowed.test", 80},
		"a port is taken":                        {"allowed.test:8080", 80, "allowed.test", 8080},
		"an empty port is the default":           {"allowed.test:", 80, "allowed.test", 80},
		"a dot before the port is dropped":       {"allowed.test.:80", 80, "allowed.test", 80},
		"noughts before a port are nothing":      {"allowed.test:00443", 80, "allowed.test", 443},
		"a CONNECT names its port":               {"allowed.test:443", 0, "allowed.test", 443},
		"an IPv4 address":                        {"203.0.113.10:22", 0, "203.0.113.10", 22},
		"a number":                               {"2852039166:80", 0, "169.254.169.254", 80},
		"an IPv6 address in brackets":            {"[2001:db8::1]:443", 0, "2001:db8::1", 443},
		"an IPv6 address in brackets, no port":   {"[2001:db8::1]", 443, "2001:db8::1", 443},
		"a mapped address in brackets":           {"[::ffff:169.254.169.254]:80", 0, "169.254.169.254", 80},
		"a zone is dropped":                      {"[fe80::1%25eth0]:80", 0, "fe80::1", 80},
		"the highest port":                       {"allowed.test:65535", 0, "allowed.test", 65535},
		"an IPv6 address, its empty port a sign": {"[::1]:", 80, "::1", 80},
	} {
		t.Run(sentence, func(t *testing.T) {
			h, port, err := ParseHostPort(c.spelt, c.deflt)
			if err != nil || h.String() != c.host || port != c.port {
				t.Fatalf("ParseHostPort(%q, %d) = %q, %d, %v", c.spelt, c.deflt, h, port, err)
			}
		})
	}
}

func TestWhatIsNoHostAndPort(t *testing.T) {
	for sentence, c := range map[string]struct {
		spelt string
		deflt uint16
		why   string
	}{
		"nothing":                             {"", 80, "empty"},
		"a port alone":                        {":80", 80, "empty"},
		"no port where one must be":           {"allowed.test", 0, "no port"},
		"an empty port where one must be":     {"allowed.test:", 0, "no port"},
		"port 0":                              {"allowed.test:0", 80, "is not a number from 1 to 65535"},
		"a port too high":                     {"allowed.test:65536", 80, "is not a number from 1 to 65535"},
		"a port with a sign":                  {"allowed.test:+80", 80, "is not a number from 1 to 65535"},
		"a port by name":                      {"allowed.test:http", 80, "is not a number from 1 to 65535"},
		"a port in full-width digits":         {"allowed.test:８０", 80, "is not a number from 1 to 65535"},
		"two ports":                           {"allowed.test:80:443", 80, "an IPv6 address without brackets"},
		"an IPv6 address without brackets":    {"2001:db8::1:443", 80, "an IPv6 address without brackets"},
		"a bracket that is left open":         {"[2001:db8::1:443", 80, "a bracket without its other"},
		"something between bracket and colon": {"[2001:db8::1]x:443", 80, "something between the bracket and the port"},
		"a user":                              {"good.test@evil.test:80", 80, "'@' can't stand in a name"},
		"a user with a password":              {"good.test:80@evil.test", 80, "is not a number from 1 to 65535"},
		"a URL":                               {"http://allowed.test/", 80, "is not a number from 1 to 65535"},
		"a second line":                       {"allowed.test:80\r\nX: y", 80, "an IPv6 address without brackets"},
	} {
		t.Run(sentence, func(t *testing.T) {
			h, port, err := ParseHostPort(c.spelt, c.deflt)
			if err == nil || !h.IsZero() || port != 0 {
				t.Fatalf("ParseHostPort(%q, %d) = %q, %d; want an error", c.spelt, c.deflt, h, port)
			}
			if !strings.HasSuffix(err.Error(), c.why) {
				t.Errorf("ParseHostPort(%q): %v, want %q", c.spelt, err, c.why)
			}
		})
	}
}

func TestHostsMadeOfParts(t *testing.T) {
	if h := HostAt(netip.MustParseAddr("::ffff:203.0.113.66")); h != HostAt(netip.MustParseAddr("203.0.113.66")) {
		t.Errorf("a mapped address is %s", h)
	}
	if h := HostAt(netip.MustParseAddr("fe80::1%eth0")); h.String() != "fe80::1" {
		t.Errorf("a zone stays: %s", h)
	}
	if !HostAt(netip.Addr{}).IsZero() || !HostNamed(Name{}).IsZero() || (Host{}).String() != "" {
		t.Error("nothing makes a host")
	}
}

func FuzzParseHost(f *testing.F) {
	for _, s := range append(metadataSpellings, spellings...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHost(s)
		if err != nil {
			if !h.IsZero() {
				t.Fatalf("%q: an error and a host", s)
			}
			return
		}
		if again, err := ParseHost(h.String()); err != nil || again != h {
			t.Fatalf("%q: %q isn't its own form: %q, %v", s, h, again, err)
		}
		_, isName := h.Name()
		a, isAddr := h.Addr()
		if isName == isAddr {
			t.Fatalf("%q: name %v, address %v", s, isName, isAddr)
		}
		if isAddr && (a.Is4In6() || a.Zone() != "") {
			t.Fatalf("%q: %s isn't canonical", s, a)
		}
	})
}

func FuzzParseHostPort(f *testing.F) {
	for _, s := range spellings {
		f.Add(s, uint16(80))
		f.Add(s+":443", uint16(0))
	}
	f.Fuzz(func(t *testing.T, s string, deflt uint16) {
		h, port, err := ParseHostPort(s, deflt)
		if (err == nil) != (!h.IsZero() && port != 0) {
			t.Fatalf("%q: %q, %d, %v", s, h, port, err)
		}
	})
}
