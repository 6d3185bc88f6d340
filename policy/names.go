package policy

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The longest name and label, in octets as they are written (RFC 1035, sections 2.3.4 and 3.1: 255 on the wire, with a
// length octet for each label and one for the root).
const (
	maxName  = 253
	maxLabel = 63
)

// maxSpelling is the longest spelling of a name that is looked at. A U-label of 63 octets of Punycode holds fewer than 63
// characters of at most 4 octets, so no name needs more; what is longer is padding.
const maxSpelling = 1024

// Name is a DNS name in normal form: lower case, A-labels (RFC 5890), no trailing dot, at most 253 octets, labels of
// 1 to 63. It is comparable; only ParseName makes one. The zero value is no name and matches nothing.
type Name struct{ s string }

// ParseName brings a name into normal form: one trailing dot dropped, lower case, A-labels. Letters, digits, hyphens and
// underscores make a label; anything else, and whatever ends in a number as an address does, is not a name.
func ParseName(s string) (Name, error) {
	plain, err := plainName(s)
	if err == nil {
		plain = strings.TrimSuffix(plain, ".")
		err = checkName(plain)
	}
	if err != nil {
		return Name{}, fmt.Errorf("name %.80q: %w", s, err)
	}
	return Name{plain}, nil
}

// plainName is s in lower-case ASCII, dots and all.
func plainName(s string) (string, error) {
	if s == "" {
		return "", errors.New("empty")
	}
	if len(s) > maxSpelling {
		return "", errors.New("too long")
	}
	if isASCII(s) {
		return strings.ToLower(s), nil
	}
	if !utf8.ValidString(s) {
		return "", errors.New("not UTF-8")
	}
	return toASCII(s)
}

// checkName holds a lower-case ASCII name without its trailing dot to the rules of a normal form.
func checkName(s string) error {
	if len(s) > maxName {
		return fmt.Errorf("longer than %d octets", maxName)
	}
	encoded := false
	for rest, more := s, true; more; {
		var label string
		label, rest, more = strings.Cut(rest, ".")
		if err := checkLabel(label); err != nil {
			return err
		}
		encoded = encoded || strings.HasPrefix(label, acePrefix)
	}
	if endsInNumber(s) {
		return errors.New("it ends in a number, as an address does")
	}
	if encoded {
		return checkEncoded(s)
	}
	return nil
}

func checkLabel(label string) error {
	if label == "" {
		return errors.New("an empty label")
	}
	if len(label) > maxLabel {
		return fmt.Errorf("a label longer than %d octets", maxLabel)
	}
	for i := range len(label) {
		if c := label[i]; !isLower(c) && !isDigit(c) && c != '-' && c != '_' {
			return fmt.Errorf("%q can't stand in a name", rune(c))
		}
	}
	return nil
}

// endsInNumber reports whether the last label is decimal digits or a hexadecimal number: browsers and inet_aton take
// such a host for an IPv4 address or for nothing, never for a name (WHATWG URL, "ends in a number checker").
func endsInNumber(s string) bool {
	last := s[strings.LastIndexByte(s, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// String is the name in normal form; empty for the zero value.
func (n Name) String() string { return n.s }

// IsZero reports whether n is no name.
func (n Name) IsZero() bool { return n.s == "" }

// Under reports whether n lies below parent, at any depth. No name lies below itself.
func (n Name) Under(parent Name) bool {
	dot := len(n.s) - len(parent.s) - 1
	return parent.s != "" && dot > 0 && n.s[dot] == '.' && n.s[dot+1:] == parent.s
}

// SingleLabel reports whether n is one label, as a machine's nickname or a top-level domain is.
func (n Name) SingleLabel() bool { return n.s != "" && strings.IndexByte(n.s, '.') < 0 }

// parent is the name one label up; the zero value above a single label.
func (n Name) parent() Name {
	_, rest, _ := strings.Cut(n.s, ".")
	return Name{rest}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
