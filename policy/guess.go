package policy

import (
	"net/netip"
	"strings"
)

// mean guesses what a bad entry was meant to be.
func mean(s string) (Endpoint, bool) {
	for _, guess := range guesses(s) {
		if e, err := parseEndpoint(guess); err == nil {
			return e, true
		}
	}
	return Endpoint{}, false
}

func guesses(s string) []string {
	if len(s) > maxSpelling || strings.IndexByte(s, '@') >= 0 {
		return nil
	}
	t := strings.TrimSpace(s)
	if _, rest, ok := strings.Cut(t, "://"); ok {
		t = rest
	}
	if i := strings.IndexAny(t, "/?#"); i >= 0 && !isNetworkText(t) {
		t = t[:i]
	}
	list := []string{t}
	if below, ok := strings.CutPrefix(t, "*"); ok {
		list = append(list, "*."+below)
	}
	host, port, err := splitPort(t)
	if err != nil { // an IPv6 address with its brackets missing or elsewhere
		return append(list, "["+strings.NewReplacer("[", "", "]", "").Replace(t)+"]")
	}
	return append(list, guessNumber(host, strings.TrimPrefix(t, host), port)...)
}

func isNetworkText(s string) bool {
	_, length, _ := strings.Cut(s, "/")
	return length != "" && isDigit(length[0])
}

// guessNumber guesses at addresses and networks that are spelt otherwise.
func guessNumber(host, suffix, port string) []string {
	if n, err := netip.ParsePrefix(strings.Trim(host, "[]")); err == nil {
		return []string{Endpoint{kind: kindNetwork, network: unwrapNetwork(n.Masked())}.String() + suffix}
	}
	h, err := ParseHost(host)
	if err != nil || !h.addr.IsValid() || hasOctal(host) {
		return nil
	}
	if class := Classify(h.addr); class == ClassMachine && port != "" {
		return []string{"localhost" + suffix}
	}
	return []string{Endpoint{kind: kindNetwork, network: netip.PrefixFrom(h.addr, h.addr.BitLen())}.String() + suffix}
}

// hasOctal reports whether a part of an address starts with a 0: whether an octal number is meant is anybody's guess.
func hasOctal(host string) bool {
	for part := range strings.SplitSeq(host, ".") {
		if len(part) > 1 && part[0] == '0' && isDigit(part[1]) {
			return true
		}
	}
	return false
}

// unwrapNetwork is the IPv4 network inside a mapped or translated one; any other as it is.
func unwrapNetwork(n netip.Prefix) netip.Prefix {
	for _, w := range []netip.Prefix{mapped, translated, nat64} {
		if w.Contains(n.Addr()) && n.Bits() >= w.Bits() {
			b := n.Addr().As16()
			return netip.PrefixFrom(netip.AddrFrom4([4]byte(b[12:])), n.Bits()-w.Bits())
		}
	}
	return n
}
