package dnsproxy

import (
	"net/netip"
	"slices"
	"strings"

	"lnk/policy"
)

// hosts is what a hosts file says (hosts(5)): the addresses of names, in the file's order.
type hosts map[policy.Name][]netip.Addr

func parseHosts(data []byte) hosts {
	h := make(hosts)
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		addr, err := netip.ParseAddr(fields[0])
		if err != nil {
			continue
		}
		for _, field := range fields[1:] {
			h.add(field, plain(addr))
		}
	}
	return h
}

func (h hosts) add(text string, addr netip.Addr) {
	name, err := policy.ParseName(text)
	if err == nil && !slices.Contains(h[name], addr) {
		h[name] = append(h[name], addr)
	}
}
