package wirelog

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Target is what a call was for, in a form that is safe in a line and on a terminal: at most 300 characters, no
// space, no quote, no parenthesis, nothing but printable ASCII and the mark of a cut. Only the functions below make
// one. None takes a request, and each cuts where a host would end in a URL or in a header: what is left can't hold a
// path, a query, a user's name or password, or another header. The zero value is written "-".
type Target struct{ s string }

// HostPort is a host (a name, or an address as it was asked for) and a port. An IPv6 address is put in brackets.
func HostPort(host string, port uint16) Target {
	end := ":" + strconv.Itoa(int(port))
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	if bare, _, _ := authority(host); strings.Contains(bare, ":") {
		return Target{"[" + word(host, maxTarget-2-len(end)) + "]" + end}
	}
	return Target{word(host, maxTarget-len(end)) + end}
}

// PortTarget is a port of this machine: its number alone.
func PortTarget(port uint16) Target { return Target{strconv.Itoa(int(port))} }

// NameTarget is a name alone: one looked up, or a provider's.
func NameTarget(name string) Target {
	if w := word(name, maxTarget); w != "-" {
		return Target{w}
	}
	return Target{}
}

// String is the target as the log has it.
func (t Target) String() string {
	if t.s == "" {
		return "-"
	}
	return t.s
}

// MarshalText is String: a target can't be read back from anywhere but a line.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// word is the host in s, of at most max characters, with a mark where something was cut.
func word(s string, max int) string {
	host, before, after := authority(s)
	if before {
		max--
	}
	if after {
		max--
	}
	host = clean(host, inTarget, max)
	if before {
		host = mark + host
	}
	if after && !strings.HasSuffix(host, mark) {
		host += mark
	}
	if host == "" {
		return "-"
	}
	return host
}

// authority is the part of s that a URL would call its host, and whether anything stood before and after it. A line
// break ends it too: what follows would be another header.
func authority(s string) (host string, before, after bool) {
	if i := strings.IndexAny(s, "/?#\r\n"); i >= 0 {
		s, after = s[:i], true
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s, before = s[i+1:], true
	}
	return s, before, after
}

// parseTarget takes a word that stands in a line.
func parseTarget(s string) (Target, bool) {
	if s == "-" {
		return Target{}, true
	}
	left := maxTarget
	for rest := s; rest != ""; left-- {
		switch c := rest[0]; {
		case c < utf8.RuneSelf && (inTarget[c] || c == '\\'):
			rest = rest[1:]
		case strings.HasPrefix(rest, mark):
			rest = rest[len(mark):]
		default:
			return Target{}, false
		}
	}
	return Target{s}, s != "" && left >= 0
}
