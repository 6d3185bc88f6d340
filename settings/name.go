package settings

import (
	"crypto/rand"
	"fmt"
	"path"
	"strings"
)

// Name is the name of a sandbox, an agent or a spec: 1 to 64 of the characters a-z, A-Z, 0-9, '-', '_' and '.', the
// first one a letter or a digit. So a name is a file's name as it is, and can't repaint a terminal or forge a log line.
type Name string

// MaxName is the longest name, in octets.
const MaxName = 64

// ParseName checks a name.
func ParseName(s string) (Name, error) {
	if s == "" {
		return "", fmt.Errorf("a name is empty")
	}
	if len(s) > MaxName {
		return "", fmt.Errorf("name %.20q…: longer than %d characters", s, MaxName)
	}
	for i := range len(s) {
		if !nameByte(s[i], i == 0) {
			return "", fmt.Errorf("name %q: only letters, digits, '-', '_' and '.', the first a letter or digit", s)
		}
	}
	return Name(s), nil
}

// Valid reports whether ParseName would take the name.
func (n Name) Valid() bool {
	_, err := ParseName(string(n))
	return err == nil
}

// UnmarshalText checks a name that stands in a file.
func (n *Name) UnmarshalText(text []byte) error {
	name, err := ParseName(string(text))
	if err != nil {
		return err
	}
	*n = name
	return nil
}

// NameAfter makes a name for a run that was given none: its program's, and four random characters that keep two runs
// apart.
func NameAfter(program string) Name {
	const end = 1 + 4
	var b strings.Builder
	for _, c := range []byte(path.Base(program)) {
		switch {
		case b.Len() == MaxName-end:
		case nameByte(c, b.Len() == 0):
			b.WriteByte(c)
		case b.Len() > 0:
			b.WriteByte('-')
		}
	}
	if b.Len() == 0 {
		b.WriteString("program")
	}
	return Name(b.String() + "-" + strings.ToLower(rand.Text()[:4]))
}

func nameByte(c byte, first bool) bool {
	if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
		return true
	}
	return !first && (c == '-' || c == '_' || c == '.')
}
