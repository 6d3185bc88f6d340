package integration

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"lnk/integration/internet"
)

func TestLookupsPassAsTheyAre(t *testing.T) {
	each(t, nil, func(s *stage) {
		s.DNS.Add(s.t, `allowed.test. 60 IN TXT "hello"`, "allowed.test. 60 IN MX 5 mail.test.", "allowed.test. 60 IN A 203.0.113.10")
		s.DNS.Script("broken.test", func(int, string) internet.Answer { return internet.Answer{Rcode: dns.RcodeServerFailure} })
		s.DNS.Script("cut.test", func(int, string) internet.Answer {
			return internet.Answer{Cut: true, Records: []string{"cut.test. 9 IN A 203.0.113.10"}}
		})
		sh := s.session("it", "-a *.test -a allowed.test -a nowhere.test")
		for _, c := range []struct{ query, want string }{
			{"dig +short allowed.test", "203.0.113.10"},
			{"dig +short TXT allowed.test", `"hello"`},
			{"dig +short MX allowed.test", "5 mail.test."},
			{"dig AAAA allowed.test", "ANSWER: 0"},
			{"dig nowhere.test", "NXDOMAIN"},
			{"dig broken.test", "SERVFAIL"},
			{"dig +short cut.test", "203.0.113.10"},
			{"dig +tcp +short big.test", "203.0.113.12"},
			{"dig +short alias.test", "allowed.test.\n203.0.113.10"},
			{"dig +short @203.0.113.99 big.test", "203.0.113.12"},
			{"dig +short @127.0.0.1 big.test", "203.0.113.12"},
			{"dig +short @2001:db8::99 big.test", "203.0.113.12"},
			{"dig +short +tcp @::1 big.test", "203.0.113.12"},
			{"getent hosts big.test", "big.test"},
			{"cat /etc/resolv.conf", "nameserver 198.18.0.2"},
		} {
			if r := sh.do(c.query); !strings.Contains(r.Stdout, c.want) {
				s.t.Errorf("%s: want %q, got %v", c.query, c.want, r)
			}
		}
	})
}

func TestRefusedLookupsStayHere(t *testing.T) {
	each(t, nil, func(s *stage) {
		sh := s.session("it", "-a allowed.test")
		for i, query := range []string{"dig %s", "dig TXT %s", "dig +tcp %s", "dig MX %s", "dig AAAA %s", "dig TYPE65 %s", "dig @203.0.113.53 %s", "getent hosts %s", "curl -sS http://%s/"} {
			name := fmt.Sprintf("x%d.evil.test", i)
			s.promptly(sh.do(fmt.Sprintf(query, name)))
			s.wantLines(1, "dns "+name+" refused")
		}
		sh.do("dig allowed.test.evil.test")
		s.unasked("evil.test")
		s.unreached("evil")
	})
}

// TestUpstreamResolver is the machine's own resolver as it may be: a caching one, another one from one moment to the next, and
// its hosts file.
func TestUpstreamResolver(t *testing.T) {
	each(t, []string{"allowed"}, func(s *stage) {
		conf, err := os.ReadFile("/etc/resolv.conf")
		if err != nil {
			s.t.Fatal(err)
		}
		hosts, err := os.ReadFile("/etc/hosts")
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() {
			os.WriteFile("/etc/resolv.conf", conf, 0o644)
			os.WriteFile("/etc/hosts", hosts, 0o644)
		})
		s.StartUnbound(s.t)
		sh := s.session("it", "-a allowed.test -a pinned.test -a big.test -a *.big.test")
		s.ok(sh.do("curl -sS http://allowed.test/"), "nginx")
		if err := os.WriteFile("/etc/resolv.conf", fmt.Appendf(nil, "nameserver %s\n", internet.Unbound), 0o644); err != nil {
			s.t.Fatal(err)
		}
		n := 0
		s.eventually(5*time.Second, "a changed resolv.conf is followed", func() bool {
			n++
			name := fmt.Sprintf("x%d.big.test", n)
			sh.do("dig +short " + name)
			asked := s.DNS.Asked(name)
			return len(asked) > 0 && asked[0].From.Addr() == internet.Unbound
		})
		s.ok(sh.do("curl -sS http://big.test/"), "hello from big.test")
		if err := os.WriteFile("/etc/hosts", append(hosts, "203.0.113.10 pinned.test\n"...), 0o644); err != nil {
			s.t.Fatal(err)
		}
		s.eventually(5*time.Second, "a changed hosts file is followed", func() bool {
			return strings.Contains(sh.do("curl -sS http://pinned.test/").Stdout, "nginx")
		})
	})
}

// TestAllowedNameThatPointsInward is a name that an attacker holds and points at the machine.
func TestAllowedNameThatPointsInward(t *testing.T) {
	each(t, nil, func(s *stage) {
		secret := s.onMachine(80)
		for _, a := range []string{"127.0.0.1", "0.0.0.0", internet.Machine4.String(), "10.99.0.1"} {
			s.DNS.Script("inward.test", func(int, string) internet.Answer {
				return internet.Answer{Records: []string{"inward.test. 0 IN A " + a}}
			})
			if r := s.run("-a *.test -a inward.test", "curl", "-sSf", "--max-time", "5", "http://inward.test/"); r.Status == 0 {
				s.t.Errorf("%s: the call went through: %v", a, r)
			}
		}
		if n := secret.Load(); n > 0 {
			s.t.Errorf("the machine's own server was called %d times", n)
		}
	})
}
