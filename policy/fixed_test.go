package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestFixedAnswers(t *testing.T) {
	for sentence, c := range map[string]struct {
		name  string
		fixed bool
		nx    bool
		addrs string
	}{
		"localhost is loopback":                               {"localhost", true, false, "127.0.0.1 ::1"},
		"what lies below it is, too":                          {"a.b.localhost", true, false, "127.0.0.1 ::1"},
		"the machine":                                         {"host.lnk.internal", true, false, "198.18.0.3"},
		"the machine, as containers call it":                  {"host.docker.internal", true, false, "198.18.0.3"},
		"the proxy":                                           {"proxy.lnk.internal", true, false, "198.18.0.4"},
		"what else is in the room's zone isn't there":         {"other.lnk.internal", true, true, ""},
		".invalid isn't there":                                {"invalid", true, true, ""},
		"a name of .invalid isn't there":                      {"a.b.invalid", true, true, ""},
		"a name of .onion isn't there":                        {"abc.onion", true, true, ""},
		"a name of .alt isn't there":                          {"abc.alt", true, true, ""},
		"the resolver's question about itself has no answer":  {"_dns.resolver.arpa", true, false, ""},
		"a reverse name of a private address":                 {"1.2.0.10.in-addr.arpa", true, true, ""},
		"a reverse name of this machine":                      {"1.0.0.127.in-addr.arpa", true, true, ""},
		"a reverse name of a link-local address":              {"254.169.254.169.in-addr.arpa", true, true, ""},
		"a private reverse zone":                              {"16.172.in-addr.arpa", true, true, ""},
		"a reverse name of a unique local address":            {reverseName("fd12::1"), true, true, ""},
		"a reverse name of a public address is ordinary":      {"66.113.0.203.in-addr.arpa", false, false, ""},
		"a reverse name of a public IPv6 address, too":        {reverseName("2001:db8::66"), false, false, ""},
		"a reverse zone that is public in part":               {"172.in-addr.arpa", false, false, ""},
		"the reverse zone itself":                             {"in-addr.arpa", false, false, ""},
		"a reverse name that has too many octets":             {"1.2.3.0.10.in-addr.arpa", false, false, ""},
		"a reverse name that has no number":                   {"x.10.in-addr.arpa", false, false, ""},
		"a classless reverse name":                            {"0-127.2.0.192.in-addr.arpa", false, false, ""},
		"a .test name is ordinary":                            {"allowed.test", false, false, ""},
		"a .local name is ordinary: networks use them":        {"printer.local", false, false, ""},
		"a .internal name is ordinary":                        {"db.internal", false, false, ""},
		"a name below the machine's container name is":        {"x.docker.internal", false, false, ""},
		"a name that ends like localhost is":                  {"mylocalhost", false, false, ""},
		"a name with localhost in front is":                   {"localhost.allowed.test", false, false, ""},
		"a reverse name of too many nibbles":                  {strings.Repeat("0.", 33) + "ip6.arpa", false, false, ""},
		"a reverse name of nibbles of two digits is ordinary": {"10.d.f.ip6.arpa", false, false, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, ok := Fixed(mustName(c.name))
			var addrs []string
			for _, a := range got.Addrs {
				addrs = append(addrs, a.String())
			}
			if ok != c.fixed || ok && (got.NoSuchName != c.nx || strings.Join(addrs, " ") != c.addrs) {
				t.Errorf("%s: %+v, %v", c.name, got, ok)
			}
		})
	}
	if _, ok := Fixed(Name{}); ok {
		t.Error("the zero name has an answer")
	}
}

// reverseName is the ip6.arpa name of an address.
func reverseName(s string) string {
	nibbles := strings.Split(fmt.Sprintf("%x", addr(s).AsSlice()), "")
	slices.Reverse(nibbles)
	return strings.Join(nibbles, ".") + ".ip6.arpa"
}

func TestTheRoomsAddresses(t *testing.T) {
	for s, want := range map[string]bool{
		"198.18.1.0": true, "198.18.255.255": true, "198.19.255.254": true, "2001:2:0:1::": true, "2001:2:0:1:ffff::1": true, "::ffff:198.18.1.0": true,
		"198.18.0.255": false, "198.18.0.3": false, "198.19.255.255": false, "198.20.0.0": false, "2001:2:0:2::": false, "203.0.113.1": false, "::1": false,
	} {
		if got := IsRefusalAddr(addr(s)); got != want {
			t.Errorf("%s: %v", s, got)
		}
	}
	if IsRefusalAddr(netip.Addr{}) {
		t.Error("no address is one")
	}
	for _, a := range []netip.Addr{RoomAddr4, RoomAddr6, NameServer, MachineAddr, ProxyAddr} {
		if IsRefusalAddr(a) || Classify(a) == ClassPublic || Classify(a) == ClassMachine {
			t.Errorf("%s is %s", a, Classify(a))
		}
	}
	if !RefusalPrefix4.Contains(RefusalFirst4) || !RefusalPrefix4.Contains(RefusalLast4) || !RefusalPrefix4.Contains(MachineAddr) {
		t.Error("the refusal addresses lie outside their range")
	}
}
