package spec

import (
	"strconv"
	"strings"
	"testing"

	"lnk/policy"
)

// written is a spec's file that says the same.
func written(s Spec) string {
	var b strings.Builder
	b.WriteString("[network]\nmode = " + strconv.Quote(s.Mode().String()) + "\n")
	var list []string
	for _, e := range s.Rules().Endpoints() {
		list = append(list, strconv.Quote(e.String()))
	}
	if len(list) > 0 {
		b.WriteString("endpoints = [" + strings.Join(list, ", ") + "]\n")
	}
	list = nil
	for _, p := range s.Rules().Ports() {
		list = append(list, strconv.Itoa(int(p)))
	}
	if len(list) > 0 {
		b.WriteString("ports = [" + strings.Join(list, ", ") + "]\n")
	}
	b.WriteString("[log]\nrequired = " + strconv.FormatBool(s.LogRequired()) + "\n[limits]\ncalls = " + strconv.Itoa(s.MaxCalls()) + "\n")
	return b.String()
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "[network]\nmode = \"endpoints\"\nendpoints = [\"a.test\", \"*.b.test:*\", \"10.0.0.0/8:22\", \"[2001:db8::/32]:443\", \"localhost:80\"]\nports = [5432]\n[log]\nrequired = true\n[limits]\ncalls = 5",
		"network = { ports = [0] }", "[network]\nports = [1,\n70000]", "[[network]]", "network.mode = \"x\"", "[network\n", "\"\\u001b\" = 1", "[network]\nendpoints = [[\"a\"], {b = 1}]", "[a.b.c]\nd.e = 1",
		"[network]\nendpoints = ['''\na''']", "\ufeff[network]", "[network]\nmode = nan", "x = 1979-05-27T07:32:00Z",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data, "f.toml")
		if err != nil {
			if s.Rules() != (policy.Rules{}) || !strings.HasPrefix(err.Error(), "f.toml") {
				t.Fatalf("%v, and %s", err, s.Describe())
			}
			if strings.Trim(err.Error(), "\n") != err.Error() || strings.ContainsAny(err.Error(), "\x00\x1b\r") {
				t.Fatalf("an error that paints: %q", err)
			}
			return
		}
		again, err := Parse([]byte(written(s)), "again.toml")
		if err != nil || again.Describe() != s.Describe() || again.Mode() != s.Mode() || again.MaxCalls() != s.MaxCalls() || again.LogRequired() != s.LogRequired() {
			t.Fatalf("%s\nis read back as %s, %v", written(s), again.Describe(), err)
		}
		if strings.ContainsAny(s.Describe(), "\n\r\x1b") {
			t.Fatalf("described as %q", s.Describe())
		}
	})
}
