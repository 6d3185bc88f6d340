package sandbox

import (
	"strings"
)

// resolvConf is the room's /etc/resolv.conf: one name server, which is the wire's own, and no search list, so that a
// name means the same thing inside whatever the machine's list says. (The room's host name has no domain for the same reason: glibc would search it.)
func resolvConf(nameServer string) []byte {
	return []byte("# Made by lnk for this sandbox; the machine's own is not touched.\nnameserver " + nameServer + "\n")
}

// hostsFile is the room's /etc/hosts: localhost, and the machine's own name at an address of the loopback, as Debian has
// it, so that a program that asks for its own host's name isn't sent to the wire. Nothing of the machine's file: a name in it
// is the wire's to judge.
func hostsFile(hostname string) []byte {
	var b strings.Builder
	b.WriteString("# Made by lnk for this sandbox; the machine's own is not touched.\n")
	b.WriteString("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n")
	if isHostname(hostname) && hostname != "localhost" {
		b.WriteString("127.0.1.1 " + hostname)
		if short, _, ok := strings.Cut(hostname, "."); ok && short != "" {
			b.WriteString(" " + short)
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

// isHostname says whether a host's name can stand in a hosts file (hosts(5)) and can't mean an address.
func isHostname(s string) bool {
	if s == "" || len(s) > 253 || s[0] == '-' || s[0] == '.' {
		return false
	}
	letter := false
	for i := range len(s) {
		c := s[i]
		isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		letter = letter || isLetter
		if !isLetter && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return letter
}
