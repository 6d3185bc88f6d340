package policy

import (
	"errors"
	"strings"
)

// Name is a DNS name in normal form: lower case, A-labels (RFC 5890), no trailing dot, at most 253 octets, labels of
// 1 to 63. It is comparable; only ParseName makes one. The zero value is no name and matches nothing.
type Name struct{ s string }

// ParseName brings a name into normal form: one trailing dot dropped, lower case, A-labels. An address, and whatever
// ends in a number, is not a name.
func ParseName(s string) (Name, error) { return Name{}, errors.New("name: not written yet") }

// String is the name in normal form; empty for the zero value.
func (n Name) String() string { return n.s }

// IsZero reports whether n is no name.
func (n Name) IsZero() bool { return n.s == "" }

// Under reports whether n lies below parent, at any depth. No name lies below itself.
func (n Name) Under(parent Name) bool {
	cut := len(n.s) - len(parent.s)
	return parent.s != "" && cut > 1 && n.s[cut-1] == '.' && n.s[cut:] == parent.s
}

// SingleLabel reports whether n is one label, as a machine's nickname or a top-level domain is.
func (n Name) SingleLabel() bool { return n.s != "" && !strings.Contains(n.s, ".") }
