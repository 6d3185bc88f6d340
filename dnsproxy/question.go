package dnsproxy

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"

	"lnk/policy"
)

// question is what the machine's resolver is asked: what is judged is what is asked, since both come from the same name.
type question struct {
	name   policy.Name // zero for the root
	qtype  uint16
	do, cd bool // DNSSEC records wanted; not to be validated
}

// key is the question as the cache and the lookups under way know it: the name in wire form and lower case, the type and the two bits.
func (q question) key() string {
	var buf [keyMax]byte
	return string(appendKey(appendWire(buf[:0], q.name), q.qtype, q.do, q.cd))
}

// keyMax is the longest key.
const keyMax = 255 + 3

// appendKey completes a key that holds the name already.
func appendKey(b []byte, qtype uint16, do, cd bool) []byte {
	b = binary.BigEndian.AppendUint16(b, qtype)
	var bits byte
	if do {
		bits |= 1
	}
	if cd {
		bits |= 2
	}
	return append(b, bits)
}

// appendLower adds a name in wire form in lower case. A length octet is at most 63, below any letter.
func appendLower(b, wire []byte) []byte {
	for _, c := range wire {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// appendWire adds a name's wire form.
func appendWire(b []byte, n policy.Name) []byte {
	if s := n.String(); s != "" {
		for label := range strings.SplitSeq(s, ".") {
			b = append(b, byte(len(label)))
			b = append(b, label...)
		}
	}
	return append(b, 0)
}

// dotted writes a name in wire form as text in lower case. plain reports that every label holds letters, digits, '-' and '_' only: others
// come out as text that ParseName must not be given, such as a label that holds a dot.
func dotted(wire []byte) (text string, plain bool) {
	buf := make([]byte, 0, 255)
	plain = true
	for at := 0; wire[at] != 0; {
		n := int(wire[at])
		if at > 0 {
			buf = append(buf, '.')
		}
		for _, c := range wire[at+1 : at+1+n] {
			switch {
			case 'A' <= c && c <= 'Z':
				c += 'a' - 'A'
			case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_':
			default:
				plain = false
			}
			buf = append(buf, c)
		}
		at += 1 + n
	}
	return string(buf), plain
}

// nameOf is the name that a question is about; false means that it is none that could ever be allowed.
func nameOf(text string, plain bool) (policy.Name, bool) {
	if !plain {
		return policy.Name{}, false
	}
	n, err := policy.ParseName(text)
	// A name whose normal form is another one would be judged as one name and asked as another.
	return n, err == nil && n.String() == text
}

// reverseAddr is the address that a name of the reverse zones (in-addr.arpa, ip6.arpa) stands for.
func reverseAddr(name string) (netip.Addr, bool) {
	if rest, ok := strings.CutSuffix(name, ".in-addr.arpa"); ok {
		return reverse4(strings.Split(rest, "."))
	}
	if rest, ok := strings.CutSuffix(name, ".ip6.arpa"); ok {
		return reverse6(strings.Split(rest, "."))
	}
	return netip.Addr{}, false
}

func reverse4(labels []string) (netip.Addr, bool) {
	var b [4]byte
	if len(labels) != len(b) {
		return netip.Addr{}, false
	}
	for i, l := range labels {
		n, err := strconv.ParseUint(l, 10, 8)
		if err != nil {
			return netip.Addr{}, false
		}
		b[3-i] = byte(n)
	}
	return netip.AddrFrom4(b), true
}

func reverse6(labels []string) (netip.Addr, bool) {
	var b [16]byte
	if len(labels) != 2*len(b) {
		return netip.Addr{}, false
	}
	for i, l := range labels {
		n, err := strconv.ParseUint(l, 16, 4)
		if err != nil || len(l) != 1 {
			return netip.Addr{}, false
		}
		b[15-i/2] |= byte(n) << (4 * (i % 2))
	}
	return netip.AddrFrom16(b), true
}
