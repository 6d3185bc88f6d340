package dnsproxy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"lnk/policy"
)

func TestTheFilesAreFollowed(t *testing.T) {
	r, _ := newTestResolver(t, "", script("a.test. 60 IN A 203.0.113.1", "b.test. 60 IN A 203.0.113.1"))
	other := &upstream{say: script("a.test. 60 IN A 203.0.113.2")}
	other.start(t, "127.0.0.9", r.port)
	now := time.Now()
	r.now = func() time.Time { return now }
	look := func(want string) {
		t.Helper()
		now = now.Add(lookEvery)
		addrs, err := r.Resolve(t.Context(), name("a.test"))
		if err != nil || addrsText(addrs) != want {
			t.Errorf("%v, %v; want %s", addrs, err, want)
		}
	}
	look("203.0.113.1")
	write(t, r.conf.path, "nameserver 127.0.0.9\n")
	look("203.0.113.2")
	write(t, r.hosts.path, "203.0.113.3 a.test\n")
	look("203.0.113.3")
	write(t, r.hosts.path, "203.0.113.4 a.test\n") // the same size and, as likely as not, the same time
	look("203.0.113.4")
	if err := os.Remove(r.hosts.path); err != nil {
		t.Fatal(err)
	}
	look("203.0.113.2")
	if err := os.Symlink("elsewhere", r.hosts.path); err != nil {
		t.Fatal(err)
	}
	look("203.0.113.2")
	write(t, filepath.Join(filepath.Dir(r.hosts.path), "elsewhere"), "203.0.113.5 a.test\n")
	look("203.0.113.5")
}

func TestAFileThatIsNoFileIsNotRead(t *testing.T) {
	r, _ := newTestResolver(t, "", script("a.test. 60 IN A 203.0.113.1"))
	os.Remove(r.hosts.path)
	if err := os.Mkdir(r.hosts.path, 0o700); err != nil {
		t.Fatal(err)
	}
	if a, err := r.Resolve(t.Context(), name("a.test")); err != nil || addrsText(a) != "203.0.113.1" {
		t.Errorf("%v, %v", a, err)
	}
}

func TestHostsAnswerAllowedNames(t *testing.T) {
	r := newRig(t, world, "allowed.test", "pinned.test").serve(t)
	write(t, r.hosts, "203.0.113.77 Pinned.test other.test\n2001:db8::77\tpinned.test # here\nnonsense\n")
	tests := map[string]struct {
		name  string
		qtype uint16
		want  string
	}{
		"an allowed name's address":               {"pinned.test", dns.TypeA, "NOERROR, A 203.0.113.77"},
		"of the other family":                     {"pinned.test", dns.TypeAAAA, "NOERROR, AAAA 2001:db8::77"},
		"and nothing that would lead past them":   {"pinned.test", dns.TypeHTTPS, "NOERROR"},
		"what isn't an address is asked":          {"pinned.test", dns.TypeTXT, "NXDOMAIN"},
		"a name that isn't allowed stays refused": {"other.test", dns.TypeTXT, "NOERROR"},
	}
	for sentence, test := range tests {
		if got := said(r.ask(t, test.name, test.qtype)); got != test.want {
			t.Errorf("%s: %s, want %s", sentence, got, test.want)
		}
	}
	if got := r.up.names(); !slices.Equal(got, []string{"pinned.test. TXT"}) {
		t.Errorf("asked %q", got)
	}
	if got := r.Book.Names(addr("203.0.113.77")); !slices.Equal(got, []policy.Name{name("pinned.test")}) {
		t.Errorf("the book has %v", got)
	}
}

func TestParseResolvConf(t *testing.T) {
	tests := map[string]struct {
		text string
		want string
	}{
		"no file":                       {"", "[127.0.0.1] [] 1 5s 2 false false"},
		"comments and other keywords":   {"# nameserver 192.0.2.9\n;x\nsortlist 1.2.3.4\nnameserver\n", "[127.0.0.1] [] 1 5s 2 false false"},
		"servers, three at most":        {"nameserver 192.0.2.1\nnameserver ::ffff:192.0.2.2\nnameserver fe80::1%eth0\nnameserver 192.0.2.4\n", "[192.0.2.1 192.0.2.2 fe80::1%eth0] [] 1 5s 2 false false"},
		"the last of domain and search": {"search a.test b.test.\ndomain c.test\n", "[127.0.0.1] [c.test] 1 5s 2 false false"},
		"a search list":                 {"domain c.test\nsearch A.test . b.test.\n", "[127.0.0.1] [a.test b.test] 1 5s 2 false false"},
		"options":                       {"options ndots:5 timeout:2 attempts:3 rotate use-vc edns0 trust-ad\n", "[127.0.0.1] [] 5 2s 3 true true"},
		"options out of bounds":         {"options ndots:99 timeout:999 attempts:99\noptions ndots:x timeout: attempts:-1", "[127.0.0.1] [] 15 30s 5 false false"},
		"no time and no attempts":       {"options timeout:0 attempts:0", "[127.0.0.1] [] 1 1s 1 false false"},
	}
	for sentence, test := range tests {
		c := parseResolvConf([]byte(test.text))
		if got := fmt.Sprint(c.servers, c.search, c.ndots, c.timeout, c.attempts, c.rotate, c.tcp); got != test.want {
			t.Errorf("%s: %s, want %s", sentence, got, test.want)
		}
	}
}
