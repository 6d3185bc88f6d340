package dnsproxy

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"lnk/policy"
)

// The bounds of resolv.conf(5), as glibc has them.
const (
	maxServers  = 3
	maxSearch   = 32
	maxNdots    = 15
	maxTimeout  = 30 * time.Second
	maxAttempts = 5
)

// resolvConf is what a resolv.conf says.
type resolvConf struct {
	servers  []netip.Addr // with its zone, where it has one
	search   []policy.Name
	ndots    int
	timeout  time.Duration // of one try
	attempts int           // rounds over all servers
	rotate   bool          // begin each question at the next server
	tcp      bool          // use-vc: ask over TCP only
}

// parseResolvConf reads a resolv.conf. One that isn't there, or that names no server, means the resolver of this machine.
func parseResolvConf(data []byte) resolvConf {
	c := resolvConf{ndots: 1, timeout: 5 * time.Second, attempts: 2}
	for line := range strings.Lines(string(data)) {
		if line[0] == '#' || line[0] == ';' {
			continue
		}
		if fields := strings.Fields(line); len(fields) > 1 {
			c.keyword(fields[0], fields[1:])
		}
	}
	if len(c.servers) == 0 {
		c.servers = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	return c
}

func (c *resolvConf) keyword(word string, values []string) {
	switch word {
	case "nameserver":
		if a, err := netip.ParseAddr(values[0]); err == nil && len(c.servers) < maxServers {
			c.servers = append(c.servers, a.Unmap())
		}
	case "domain": // the last of domain and search counts
		c.search = searchList(values[:1])
	case "search":
		c.search = searchList(values)
	case "options":
		for _, v := range values {
			c.option(v)
		}
	}
}

func searchList(values []string) []policy.Name {
	var all []policy.Name
	for _, v := range values {
		if n, err := policy.ParseName(v); err == nil && len(all) < maxSearch {
			all = append(all, n)
		}
	}
	return all
}

func (c *resolvConf) option(text string) {
	word, value, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(value)
	number := err == nil && n >= 0
	switch {
	case word == "ndots" && number:
		c.ndots = min(n, maxNdots)
	case word == "timeout" && number:
		c.timeout = min(time.Duration(max(n, 1))*time.Second, maxTimeout)
	case word == "attempts" && number:
		c.attempts = min(max(n, 1), maxAttempts)
	case word == "rotate":
		c.rotate = true
	case word == "use-vc":
		c.tcp = true
	}
}
