package policy

import (
	"net/netip"
	"testing"
)

func TestAddressesHaveAClass(t *testing.T) {
	for sentence, c := range map[string]struct {
		addr string
		want Class
	}{
		"a public address":                                {"8.8.8.8", ClassPublic},
		"the documentation's first network":               {"192.0.2.1", ClassPublic},
		"the documentation's second network":              {"198.51.100.1", ClassPublic},
		"the documentation's third network":               {"203.0.113.10", ClassPublic},
		"the documentation's IPv6 network":                {"2001:db8::10", ClassPublic},
		"the documentation's newer IPv6 network":          {"3fff::1", ClassPublic},
		"a public IPv6 address":                           {"2606:4700:4700::1111", ClassPublic},
		"10/8, its first":                                 {"10.0.0.0", ClassPrivate},
		"10/8, its last":                                  {"10.255.255.255", ClassPrivate},
		"before 172.16/12":                                {"172.15.255.255", ClassPublic},
		"172.16/12, its first":                            {"172.16.0.0", ClassPrivate},
		"172.16/12, its last":                             {"172.31.255.255", ClassPrivate},
		"after 172.16/12":                                 {"172.32.0.0", ClassPublic},
		"192.168/16":                                      {"192.168.1.1", ClassPrivate},
		"beside 192.168/16":                               {"192.169.0.0", ClassPublic},
		"shared addresses, the first":                     {"100.64.0.0", ClassPrivate},
		"shared addresses, the last":                      {"100.127.255.255", ClassPrivate},
		"after the shared addresses":                      {"100.128.0.0", ClassPublic},
		"a unique local address":                          {"fd12:3456::1", ClassPrivate},
		"the other half of unique local":                  {"fc00::1", ClassPrivate},
		"a site-local address":                            {"fec0::1", ClassPrivate},
		"loopback":                                        {"127.0.0.1", ClassMachine},
		"loopback, its last":                              {"127.255.255.255", ClassMachine},
		"unspecified":                                     {"0.0.0.0", ClassMachine},
		"IPv6 loopback":                                   {"::1", ClassMachine},
		"IPv6 unspecified":                                {"::", ClassMachine},
		"mapped loopback":                                 {"::ffff:127.0.0.1", ClassMachine},
		"loopback with a zone":                            {"::1%lo", ClassMachine},
		"this network":                                    {"0.1.2.3", ClassReserved},
		"link-local":                                      {"169.254.1.1", ClassLinkLocal},
		"IPv6 link-local":                                 {"fe80::1", ClassLinkLocal},
		"IPv6 link-local with a zone":                     {"fe80::1%eth0", ClassLinkLocal},
		"IPv6 link-local, its last":                       {"febf:ffff::1", ClassLinkLocal},
		"multicast":                                       {"224.0.0.251", ClassMulticast},
		"multicast, its last":                             {"239.255.255.255", ClassMulticast},
		"IPv6 multicast":                                  {"ff02::fb", ClassMulticast},
		"broadcast":                                       {"255.255.255.255", ClassBroadcast},
		"for future use":                                  {"240.0.0.1", ClassReserved},
		"protocol assignments":                            {"192.0.0.1", ClassReserved},
		"the former 6to4 relays":                          {"192.88.99.1", ClassReserved},
		"benchmarks":                                      {"198.18.0.1", ClassReserved},
		"benchmarks, the last":                            {"198.19.255.255", ClassReserved},
		"IPv6 benchmarks":                                 {"2001:2:0:1::1", ClassReserved},
		"identifiers":                                     {"2001:20::1", ClassReserved},
		"discard":                                         {"100::1", ClassReserved},
		"what is not given out":                           {"4000::1", ClassReserved},
		"segments":                                        {"5f00::1", ClassReserved},
		"a public address, mapped":                        {"::ffff:203.0.113.66", ClassPublic},
		"a public address by NAT64":                       {"64:ff9b::cb00:7142", ClassPublic},
		"a public address by local NAT64":                 {"64:ff9b:1::cb00:7142", ClassPublic},
		"a public address by 6to4":                        {"2002:cb00:7142::1", ClassPublic},
		"a private address by NAT64":                      {"64:ff9b::a00:1", ClassPrivate},
		"a private address by 6to4":                       {"2002:c0a8:101::1", ClassPrivate},
		"a private address, compatible":                   {"::10.0.0.1", ClassPrivate},
		"a private address, translated":                   {"::ffff:0:10.0.0.1", ClassPrivate},
		"a private address by Teredo":                     {"2001:0:4136:e378:8000:63bf:f5ff:fffe", ClassPrivate}, // 10.0.0.1, inverted
		"a link-local address by NAT64":                   {"64:ff9b::a9fe:1", ClassLinkLocal},
		"loopback by NAT64 is not this machine":           {"64:ff9b::7f00:1", ClassReserved},
		"loopback, compatible, is not this machine":       {"::127.0.0.1", ClassReserved},
		"loopback by 6to4 is not this machine":            {"2002:7f00:1::", ClassReserved},
		"unspecified by local NAT64 is not this machine":  {"64:ff9b:1:a9fe:a9:fe00::", ClassReserved},
		"no address":                                      {"", ClassUnknown},
		"a metadata service":                              {"169.254.169.254", ClassMetadata},
		"a metadata service among shared addresses":       {"100.100.100.200", ClassMetadata},
		"a metadata service among public addresses":       {"168.63.129.16", ClassMetadata},
		"a metadata service among protocol assignments":   {"192.0.0.192", ClassMetadata},
		"a metadata service among unique local addresses": {"fd00:ec2::254", ClassMetadata},
		"a metadata service with a zone":                  {"fe80::a9fe:a9fe%eth0", ClassMetadata},
		"beside a metadata service":                       {"168.63.129.17", ClassPublic},
	} {
		t.Run(sentence, func(t *testing.T) {
			var a netip.Addr
			if c.addr != "" {
				a = addr(c.addr)
			}
			if got := Classify(a); got != c.want {
				t.Errorf("%s is %s, want %s", c.addr, got, c.want)
			}
		})
	}
}

func TestEveryClassHasANameAndAVerdict(t *testing.T) {
	for c := ClassUnknown; c <= ClassReserved; c++ {
		allowable := c == ClassPublic || c == ClassPrivate || c == ClassMachine
		if (c.refusal() == "") != allowable {
			t.Errorf("%s is refused for %q", c, c.refusal())
		}
		if c != ClassUnknown && c.String() == "unknown" {
			t.Errorf("class %d has no name", c)
		}
	}
	if c := Class(200); c.refusal() != ReasonUnclassified || c.String() != "unknown" {
		t.Errorf("a class that isn't there is %s, refused for %q", c, c.refusal())
	}
}

func TestUnwrapFindsTheAddressInside(t *testing.T) {
	for sentence, c := range map[string]struct{ addr, want string }{
		"mapped":                             {"::ffff:203.0.113.66", "203.0.113.66"},
		"mapped, with a zone":                {"::ffff:203.0.113.66%eth0", "203.0.113.66"},
		"compatible":                         {"::203.0.113.66", "203.0.113.66"},
		"translated":                         {"::ffff:0:203.0.113.66", "203.0.113.66"},
		"NAT64":                              {"64:ff9b::203.0.113.66", "203.0.113.66"},
		"NAT64 for local use":                {"64:ff9b:1::203.0.113.66", "203.0.113.66"},
		"NAT64 for local use, its own part":  {"64:ff9b:1:abcd:0:1:203.0.113.66", "203.0.113.66"},
		"6to4":                               {"2002:cb00:7142::", "203.0.113.66"},
		"6to4 with a subnet and a host":      {"2002:cb00:7142:1::2", "203.0.113.66"},
		"Teredo: the client, not the server": {"2001:0:4136:e378:8000:63bf:34ff:8ebd", "203.0.113.66"},
		"IPv4":                               {"203.0.113.66", "203.0.113.66"},
		"IPv6":                               {"2001:db8::66", "2001:db8::66"},
		"IPv6 with a zone":                   {"fe80::1%eth0", "fe80::1"},
		"IPv6 loopback":                      {"::1", "::1"},
		"IPv6 unspecified":                   {"::", "::"},
		"beside NAT64":                       {"64:ff9c::203.0.113.66", "64:ff9c::cb00:7142"},
		"beside local NAT64":                 {"64:ff9b:2::203.0.113.66", "64:ff9b:2::cb00:7142"},
		"beside Teredo":                      {"2001:1::1", "2001:1::1"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := Unwrap(addr(c.addr)); got != addr(c.want) {
				t.Errorf("Unwrap(%s) = %s, want %s", c.addr, got, c.want)
			}
		})
	}
	if Unwrap(netip.Addr{}).IsValid() {
		t.Error("no address holds one")
	}
}

// wrap is the ways an IPv4 address is held by an IPv6 one.
func wrap(a netip.Addr) map[string]netip.Addr {
	b := a.As4()
	low := func(prefix string) netip.Addr {
		w := netip.MustParseAddr(prefix).As16()
		copy(w[12:], b[:])
		return netip.AddrFrom16(w)
	}
	sixToFour := [16]byte{0x20, 0x02, b[0], b[1], b[2], b[3]}
	teredo := [16]byte{0x20, 0x01, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, ^b[0], ^b[1], ^b[2], ^b[3]}
	return map[string]netip.Addr{
		"mapped":      low("::ffff:0:0"),
		"compatible":  low("::"),
		"translated":  low("::ffff:0:0:0"),
		"NAT64":       low("64:ff9b::"),
		"local NAT64": low("64:ff9b:1::"),
		"6to4":        netip.AddrFrom16(sixToFour),
		"Teredo":      netip.AddrFrom16(teredo),
	}
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{"169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::1", "::", "fe80::1"} {
		f.Add(addr(s).AsSlice())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		inner := Unwrap(a)
		if Unwrap(inner) != inner {
			t.Fatalf("%s: %s holds another address", a, inner)
		}
		class, innerClass := Classify(a), Classify(inner)
		if class == ClassUnknown || class != innerClass && (class != ClassReserved || innerClass != ClassMachine) {
			t.Fatalf("%s is %s, but %s is %s", a, class, inner, innerClass)
		}
		if !inner.Is4() || inner.IsUnspecified() {
			return
		}
		for how, w := range wrap(inner) {
			if how == "compatible" && w == netip.IPv6Loopback() {
				continue
			}
			if Unwrap(w) != inner {
				t.Fatalf("%s, %s, is %s", inner, how, Unwrap(w))
			}
		}
	})
}
