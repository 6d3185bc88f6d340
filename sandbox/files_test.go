package sandbox

import (
	"strings"
	"testing"
)

func TestResolvConf(t *testing.T) {
	var lines []string
	for line := range strings.Lines(string(resolvConf("198.18.0.2"))) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 || lines[0] != "nameserver 198.18.0.2\n" {
		t.Errorf("got %q, want the one name server and nothing else", lines)
	}
}

func TestHostsFile(t *testing.T) {
	tests := map[string]struct{ hostname, want string }{
		"a plain name stands at an address of the loopback":   {"box", "127.0.1.1 box\n"},
		"a qualified name has its short form as well":         {"box.example.org", "127.0.1.1 box.example.org box\n"},
		"localhost is there already":                          {"localhost", ""},
		"a name that isn't known is left out":                 {"", ""},
		"a name that would forge a line is left out":          {"box\n203.0.113.10 example.org", ""},
		"a name with a space would be two, and is left out":   {"box example.org", ""},
		"a name that could be read as an address is left out": {"203.0.113.10", ""},
		"a comment sign is left out":                          {"box#1", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rest, ok := strings.CutPrefix(string(hostsFile(tt.hostname)), string(hostsFile("")))
			if !ok || rest != tt.want {
				t.Errorf("beside localhost there is %q, want %q", rest, tt.want)
			}
		})
	}
}
