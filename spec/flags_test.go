package spec

import (
	"slices"
	"strings"
	"testing"

	"lnk/policy"
)

func parsed(t *testing.T, toml string) Spec {
	t.Helper()
	s, err := Parse([]byte(toml), "f.toml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func endpointsOf(s Spec) string {
	var list []string
	for _, e := range s.Rules().Endpoints() {
		list = append(list, e.String())
	}
	return strings.Join(list, " ")
}

func TestFlagsAddToASpec(t *testing.T) {
	const two = "[network]\nendpoints = [\"a.test\", \"b.test\"]\nports = [5432]"
	for sentence, c := range map[string]struct {
		toml      string
		flags     Flags
		mode      policy.Mode
		endpoints string
		ports     []uint16
	}{
		"none leave it as it is":                  {two, Flags{}, policy.ModeEndpoints, "a.test b.test", []uint16{5432}},
		"none leave it open":                      {"", Flags{}, policy.ModeOpen, "", nil},
		"-a alone makes it endpoints":             {"", Flags{Endpoints: []string{"a.test"}}, policy.ModeEndpoints, "a.test", nil},
		"-a adds":                                 {two, Flags{Endpoints: []string{"c.test"}}, policy.ModeEndpoints, "a.test b.test c.test", []uint16{5432}},
		"-a of what is there adds nothing":        {two, Flags{Endpoints: []string{"B.test."}}, policy.ModeEndpoints, "a.test b.test", []uint16{5432}},
		"-a may be spelt in any way":              {"", Flags{Endpoints: []string{"Allowed.TEST", "bücher.test:443"}}, policy.ModeEndpoints, "allowed.test xn--bcher-kva.test:443", nil},
		"-a adds to an empty list":                {"[network]\nendpoints = []", Flags{Endpoints: []string{"a.test"}}, policy.ModeEndpoints, "a.test", nil},
		"-a with a spec that says open":           {"[network]\nmode = \"open\"", Flags{Endpoints: []string{"db.corp"}}, policy.ModeOpen, "db.corp", nil},
		"-a with a spec of ports alone":           {"[network]\nports = [5432]", Flags{Endpoints: []string{"a.test"}}, policy.ModeEndpoints, "a.test", []uint16{5432}},
		"-a of a port of this machine":            {"", Flags{Endpoints: []string{"localhost:11434"}}, policy.ModeEndpoints, "localhost:11434", []uint16{11434}},
		"-p alone leaves it open":                 {"", Flags{Ports: []string{"5432"}}, policy.ModeOpen, "", []uint16{5432}},
		"-p adds":                                 {two, Flags{Ports: []string{"80", "5432"}}, policy.ModeEndpoints, "a.test b.test", []uint16{80, 5432}},
		"--network sets the mode":                 {"", Flags{Mode: "none"}, policy.ModeNone, "", nil},
		"--network open beside a spec's list":     {two, Flags{Mode: "open"}, policy.ModeOpen, "a.test b.test", []uint16{5432}},
		"--network open with -a":                  {"", Flags{Mode: "open", Endpoints: []string{"db.corp"}}, policy.ModeOpen, "db.corp", nil},
		"--network endpoints without any":         {"", Flags{Mode: "endpoints"}, policy.ModeEndpoints, "", nil},
		"--network endpoints over a spec's none":  {"[network]\nmode = \"none\"", Flags{Mode: "endpoints", Endpoints: []string{"a.test"}}, policy.ModeEndpoints, "a.test", nil},
		"--network host over a spec's open":       {"[network]\nmode = \"open\"", Flags{Mode: "host"}, policy.ModeHost, "", nil},
		"--network endpoints over a spec's ports": {"[network]\nports = [5432]", Flags{Mode: "endpoints"}, policy.ModeEndpoints, "", []uint16{5432}},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := parsed(t, c.toml)
			described := before.Describe()
			s, err := before.With(c.flags)
			if err != nil {
				t.Fatal(err)
			}
			if s.Mode() != c.mode || s.Rules().Mode() != c.mode || endpointsOf(s) != c.endpoints || !slices.Equal(s.Rules().Ports(), c.ports) {
				t.Errorf("mode %s, endpoints %s, ports %v", s.Mode(), endpointsOf(s), s.Rules().Ports())
			}
			if before.Describe() != described {
				t.Error("the spec beneath has changed")
			}
		})
	}
}

func TestFlagsThatAreWrong(t *testing.T) {
	const two = "[network]\nendpoints = [\"a.test\", \"b.test\"]"
	for sentence, c := range map[string]struct {
		toml  string
		flags Flags
		want  string
	}{
		"a wildcard without its dot":        {"", Flags{Endpoints: []string{"a.test", "*good.test"}}, `-a: endpoint "*good.test": a wildcard is *. and the name below which all is meant; write "*.good.test"`},
		"every name":                        {"", Flags{Endpoints: []string{"*"}}, `-a: endpoint "*": every name is no endpoint: that is mode "open"`},
		"an empty endpoint":                 {"", Flags{Endpoints: []string{""}}, `-a: endpoint "": empty`},
		"port 0":                            {"", Flags{Ports: []string{"0"}}, `-p: port "0": a port is a number from 1 to 65535`},
		"a port too high":                   {"", Flags{Ports: []string{"65536"}}, `-p: port "65536": a port is a number from 1 to 65535`},
		"an empty port":                     {"", Flags{Ports: []string{""}}, `-p: port "": a port is a number from 1 to 65535`},
		"a port by name":                    {"", Flags{Ports: []string{"http"}}, `-p: port "http": a port is a number from 1 to 65535`},
		"an unknown mode":                   {"", Flags{Mode: "closed"}, `--network: network mode "closed": it is one of endpoints, open, none and host`},
		"-a with --network none":            {"", Flags{Mode: "none", Endpoints: []string{"a.test"}}, `-a: mode "none" allows nothing: leave one out`},
		"-a with --network host":            {"", Flags{Mode: "host", Endpoints: []string{"a.test"}}, `-a: mode "host" is the machine's own network, where nothing is judged: leave one out`},
		"-p with --network none":            {"", Flags{Mode: "none", Ports: []string{"80"}}, `-p: mode "none" allows nothing: leave one out`},
		"-a with a spec's none":             {"[network]\nmode = \"none\"", Flags{Endpoints: []string{"a.test"}}, `-a: mode "none" allows nothing: leave one out`},
		"-p with a spec's host":             {"[network]\nmode = \"host\"", Flags{Ports: []string{"80"}}, `-p: mode "host" is the machine's own network, where nothing is judged: leave one out`},
		"--network host over a spec's list": {two, Flags{Mode: "host"}, `--network: the spec has endpoints or ports, and mode "host" is the machine's own network, where nothing is judged: leave one out`},
		"--network none over a spec's list": {two, Flags{Mode: "none"}, `--network: the spec has endpoints or ports, and mode "none" allows nothing: leave one out`},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, err := parsed(t, c.toml).With(c.flags)
			if err == nil || err.Error() != c.want {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if s.Mode() != policy.ModeNone || s.Rules() != (policy.Rules{}) {
				t.Error("an error and a spec that allows something")
			}
		})
	}
}

func TestFlagsDoNotShareMemory(t *testing.T) {
	base := parsed(t, "[network]\nendpoints = [\"a.test\"]")
	one, err1 := base.With(Flags{Endpoints: []string{"one.test"}})
	two, err2 := base.With(Flags{Endpoints: []string{"two.test"}})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if endpointsOf(one) != "a.test one.test" || endpointsOf(two) != "a.test two.test" || endpointsOf(base) != "a.test" {
		t.Errorf("%s; %s; %s", endpointsOf(base), endpointsOf(one), endpointsOf(two))
	}
}
