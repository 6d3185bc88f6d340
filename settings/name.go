package settings

import "fmt"

// Name is the name of a sandbox, an agent or a spec: 1 to 64 of the characters a-z, A-Z, 0-9, '-', '_' and '.', the first
// one a letter or a digit. So a name is a file's name as it is, and can't repaint a terminal or forge a log line.
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
		c := s[i]
		alnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alnum && (i == 0 || c != '-' && c != '_' && c != '.') {
			return "", fmt.Errorf("name %q: only letters, digits, '-', '_' and '.', the first a letter or digit", s)
		}
	}
	return Name(s), nil
}
