package spec

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lnk/policy"
)

func TestASpecSaysWhatTheNetworkIs(t *testing.T) {
	for sentence, c := range map[string]struct {
		toml      string
		mode      policy.Mode
		endpoints string
		ports     []uint16
		describe  string
	}{
		"an empty file is open":                      {"", policy.ModeOpen, "", nil, "network: open: all that is public"},
		"an empty section is open":                   {"[network]", policy.ModeOpen, "", nil, "network: open: all that is public"},
		"endpoints make it endpoints":                {"[network]\nendpoints = [\"api.github.com\", \"*.example.org\"]", policy.ModeEndpoints, "api.github.com *.example.org", nil, "network: api.github.com, *.example.org"},
		"an empty list allows nothing":               {"[network]\nendpoints = []", policy.ModeEndpoints, "", nil, "network: nothing may be called"},
		"mode endpoints without endpoints, too":      {"[network]\nmode = \"endpoints\"", policy.ModeEndpoints, "", nil, "network: nothing may be called"},
		"an empty list with a port allows that":      {"[network]\nendpoints = []\nports = [5432]", policy.ModeEndpoints, "", []uint16{5432}, "network: nothing; this machine's port 5432"},
		"ports alone leave it open":                  {"[network]\nports = [8000, 5432, 8000]", policy.ModeOpen, "", []uint16{5432, 8000}, "network: open: all that is public; this machine's ports 5432, 8000"},
		"an endpoint may be a port":                  {"[network]\nendpoints = [\"localhost:11434\", \"127.0.0.1:5432\"]", policy.ModeEndpoints, "localhost:11434 127.0.0.1:5432", []uint16{5432, 11434}, "network: nothing; this machine's ports 5432, 11434"},
		"mode open may name what is private":         {"[network]\nmode = \"open\"\nendpoints = [\"db.corp:5432\"]", policy.ModeOpen, "db.corp:5432", nil, "network: open: all that is public and db.corp:5432"},
		"mode none":                                  {"[network]\nmode = \"none\"", policy.ModeNone, "", nil, "network: none"},
		"mode none with an empty list":               {"[network]\nmode = \"none\"\nendpoints = []", policy.ModeNone, "", nil, "network: none"},
		"mode host":                                  {"[network]\nmode = \"host\"", policy.ModeHost, "", nil, "network: the machine's own (mode host): nothing is refused, logged, stopped or paused"},
		"keys with dots":                             {"network.mode = \"endpoints\"\nnetwork.endpoints = [\"a.test\"]", policy.ModeEndpoints, "a.test", nil, "network: a.test"},
		"a section in one line":                      {"network = { endpoints = [\"a.test\"] }", policy.ModeEndpoints, "a.test", nil, "network: a.test"},
		"every kind of endpoint":                     {"[network]\nendpoints = [\"api.github.com\", \"*.example.org\", \"github.com:22\", \"db.corp:5432\", \"10.1.0.0/16:5432\", \"[2001:db8::/32]:443\"]\nports = [5432]", policy.ModeEndpoints, "api.github.com *.example.org github.com:22 db.corp:5432 10.1.0.0/16:5432 [2001:db8::/32]:443", []uint16{5432}, "network: api.github.com, *.example.org, github.com:22, db.corp:5432, 10.1.0.0/16:5432, [2001:db8::/32]:443; this machine's port 5432"},
		"more endpoints than a line names":           {"[network]\nendpoints = [\"a.test\", \"b.test\", \"c.test\", \"d.test\", \"e.test\", \"f.test\", \"g.test\", \"h.test\"]", policy.ModeEndpoints, "a.test b.test c.test d.test e.test f.test g.test h.test", nil, "network: a.test, b.test, c.test, d.test, e.test, f.test and 2 more"},
		"an endpoint that stands twice counts once":  {"[network]\nendpoints = [\"a.test\", \"a.test\"]", policy.ModeEndpoints, "a.test", nil, "network: a.test"},
		"comments and Windows line ends":             {"# mine\r\n[network] # here\r\nendpoints = [\r\n  \"a.test\", # one\r\n]\r\n", policy.ModeEndpoints, "a.test", nil, "network: a.test"},
		"a network of an A-label is in normal form":  {"[network]\nendpoints = [\"xn--bcher-kva.test\"]", policy.ModeEndpoints, "xn--bcher-kva.test", nil, "network: xn--bcher-kva.test"},
		"hexadecimal is a number as TOML writes one": {"[network]\nports = [0x1538]", policy.ModeOpen, "", []uint16{5432}, "network: open: all that is public; this machine's port 5432"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, err := Parse([]byte(c.toml), "f.toml")
			if err != nil {
				t.Fatal(err)
			}
			var endpoints []string
			for _, e := range s.Rules().Endpoints() {
				endpoints = append(endpoints, e.String())
			}
			if s.Mode() != c.mode || s.Rules().Mode() != c.mode || strings.Join(endpoints, " ") != c.endpoints || !slices.Equal(s.Rules().Ports(), c.ports) {
				t.Errorf("mode %s (rules %s), endpoints %q, ports %v", s.Mode(), s.Rules().Mode(), endpoints, s.Rules().Ports())
			}
			if got := s.Describe(); got != c.describe {
				t.Errorf("described as %q, want %q", got, c.describe)
			}
		})
	}
}

func TestASpecThatIsWrongSaysWhereAndWhat(t *testing.T) {
	for sentence, c := range map[string]struct{ toml, want string }{
		"an unknown key":                  {"[network]\nmode = \"open\"\nendpoint = []", "f.toml:3: unknown key endpoint in [network]; there are endpoints, mode, ports"},
		"an unknown section":              {"[files]\nroot = \"/\"", "f.toml:1: unknown section [files]; there are [limits], [log], [network]"},
		"a key outside a section":         {"endpoints = []", "f.toml:1: unknown section [endpoints]; there are [limits], [log], [network]"},
		"a section in a section":          {"[network.extra]\nx = 1", "f.toml:1: unknown key extra in [network]; there are endpoints, mode, ports"},
		"two unknown keys":                {"[network]\nx = 1\n[log]\ny = 2", "f.toml:2: unknown key x in [network]; there are endpoints, mode, ports\nf.toml:4: unknown key y in [log]; there are required"},
		"a key that would paint":          {"\"a\\u001b[2J\" = 1", "f.toml:1: unknown section [\"a\\x1b[2J\"]; there are [limits], [log], [network]"},
		"a key in other letters":          {"[network]\nMode = \"open\"", "f.toml:2: unknown key Mode in [network]; there are endpoints, mode, ports"},
		"a key in two kinds of letters":   {"[network]\nmode = \"none\"\nMODE = \"open\"", "f.toml:3: unknown key MODE in [network]; there are endpoints, mode, ports"},
		"a section in other letters":      {"[Network]\nmode = \"none\"", "f.toml:1: unknown section [Network]; there are [limits], [log], [network]"},
		"an endpoint in capitals":         {"[network]\nendpoints = [\n  \"a.test\",\n  \"Allowed.TEST\",\n]", `f.toml:4: [network] endpoints: endpoint "Allowed.TEST": not in normal form; write "allowed.test"`},
		"an endpoint in another script":   {"[network]\nendpoints = [\"bücher.test\"]", `f.toml:2: [network] endpoints: endpoint "bücher.test": not in normal form; write "xn--bcher-kva.test"`},
		"an endpoint with a dot at last":  {"[network]\nendpoints = [\"a.test.\"]", `f.toml:2: [network] endpoints: endpoint "a.test.": not in normal form; write "a.test"`},
		"an endpoint that is a URL":       {"[network]\n\nendpoints = [\"https://good.test/\"]", `f.toml:3: [network] endpoints: endpoint "https://good.test/": it is a URL, not a host and a port; write "good.test"`},
		"an endpoint that is everything":  {"[network]\nendpoints = [\"*\"]", `f.toml:2: [network] endpoints: endpoint "*": every name is no endpoint: that is mode "open"`},
		"an empty endpoint":               {"[network]\nendpoints = [\"\"]", `f.toml:2: [network] endpoints: endpoint "": empty`},
		"a network with host bits":        {"network.endpoints = [\"10.1.2.3/16\"]", `f.toml:1: [network] endpoints: endpoint "10.1.2.3/16": an address inside a network, not the network; write "10.1.0.0/16"`},
		"an endpoint after comments":      {"[network]\nendpoints = [ # the ones\n  # first\n  \"a.test\",\n\n  # second\n  \"good.*\",\n]", `f.toml:7: [network] endpoints: endpoint "good.*": a wildcard is *. and the name below which all is meant`},
		"an endpoint in one line":         {"network = { mode = \"endpoints\", endpoints = [\"a.test:0\"] }", `f.toml:1: [network] endpoints: endpoint "a.test:0": port "0" is neither a number from 1 to 65535 nor *`},
		"an endpoint of several lines":    {"[network]\nendpoints = [\"\"\"\na.test\nb.test\"\"\"]", `f.toml:2: [network] endpoints: endpoint "a.test\nb.test": each entry is one endpoint, with one port, and without spaces`},
		"endpoints that are one text":     {"[network]\nendpoints = \"a.test\"", "f.toml:2: [network] endpoints: not a list of texts in quotes"},
		"an endpoint that is a number":    {"[network]\nendpoints = [\n  \"a.test\", 5]", "f.toml:3: [network] endpoints: not a list of texts in quotes"},
		"an endpoint that is a list":      {"[network]\nendpoints = [[\"a.test\"]]", "f.toml:2: [network] endpoints: not a list of texts in quotes"},
		"port 0":                          {"[network]\nports = [\n  5432,\n  0,\n]", "f.toml:4: [network] ports: port 0: a port is a number from 1 to 65535"},
		"a port too high":                 {"[network]\nports = [65536]", "f.toml:2: [network] ports: port 65536: a port is a number from 1 to 65535"},
		"a port below nought":             {"[network]\nports = [-1]", "f.toml:2: [network] ports: port -1: a port is a number from 1 to 65535"},
		"a port beyond all numbers":       {"[network]\nports = [99999999999999999999]", "f.toml:2: [network] ports: not a list of ports, numbers from 1 to 65535"},
		"a port in quotes":                {"[network]\nports = [\"5432\"]", "f.toml:2: [network] ports: not a list of ports, numbers from 1 to 65535"},
		"one port without a list":         {"[network]\nports = 5432", "f.toml:2: [network] ports: not a list of ports, numbers from 1 to 65535"},
		"an unknown mode":                 {"[network]\nmode = \"all\"", `f.toml:2: [network] mode: network mode "all": it is one of endpoints, open, none and host`},
		"a mode that isn't text":          {"[network]\nmode = true", "f.toml:2: [network] mode: not a text in quotes: endpoints, open, none or host"},
		"mode none with endpoints":        {"[network]\nmode = \"none\"\nendpoints = [\"a.test\"]", `f.toml:3: [network] endpoints: mode "none" allows nothing: leave one out`},
		"mode none with ports":            {"[network]\nports = [5432]\nmode = \"none\"", `f.toml:2: [network] ports: mode "none" allows nothing: leave one out`},
		"mode host with endpoints":        {"[network]\nmode = \"host\"\nendpoints = [\"a.test\"]", `f.toml:3: [network] endpoints: mode "host" is the machine's own network, where nothing is judged: leave one out`},
		"mode host with an empty list":    {"[network]\nmode = \"host\"\nendpoints = []", `f.toml:3: [network] endpoints: mode "host" is the machine's own network, where nothing is judged: leave one out`},
		"mode host with ports":            {"[network]\nmode = \"host\"\nports = [1]", `f.toml:3: [network] ports: mode "host" is the machine's own network, where nothing is judged: leave one out`},
		"mode open with an empty list":    {"[network]\nmode = \"open\"\nendpoints = []", `f.toml:3: [network] endpoints: an empty list allows nothing, mode "open" all that is public: leave one out`},
		"a limit of nothing":              {"[limits]\ncalls = 0", "f.toml:2: [limits] calls: 0: it is a number from 1 to 1048576"},
		"a limit below nothing":           {"[limits]\ncalls = -5", "f.toml:2: [limits] calls: -5: it is a number from 1 to 1048576"},
		"a limit that is none":            {"[limits]\ncalls = 1048577", "f.toml:2: [limits] calls: 1048577: it is a number from 1 to 1048576"},
		"a limit of half a call":          {"[limits]\ncalls = 0.5", "f.toml:2: [limits] calls: not a whole number"},
		"required neither true nor false": {"[log]\nrequired = \"yes\"", "f.toml:2: [log] required: not true or false"},
		"a section that is none":          {"network = 5", "f.toml:1: [network]: not a section"},
		"a list of sections":              {"[[network]]\nmode = \"open\"", "f.toml:1: [network]: not a section"},
		"a key twice":                     {"[network]\nmode = \"open\"\nmode = \"none\"", "f.toml:3: not TOML: key mode is already defined"},
		"a section twice":                 {"[network]\n[log]\n[network]", "f.toml:3: not TOML: table network already exists"},
		"something else than TOML":        {"{\"network\": {}}", "f.toml:1: not TOML: "},
		"a bracket left open":             {"[network", "f.toml:1: not TOML: "},
		"a text left open":                {"[network]\nmode = \"open", "f.toml:2: not TOML: "},
		"octets that are not UTF-8":       {"[network]\nmode = \"\xff\"", "f.toml:2: not TOML: "},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, err := Parse([]byte(c.toml), "f.toml")
			if err == nil {
				t.Fatalf("%q is a spec: %s", c.toml, s.Describe())
			}
			if got := err.Error(); got != c.want && !(strings.HasSuffix(c.want, "TOML: ") && strings.HasPrefix(got, c.want)) {
				t.Errorf("%q\n got: %s\nwant: %s", c.toml, got, c.want)
			}
			if s.Mode() != policy.ModeNone || s.Rules() != (policy.Rules{}) {
				t.Errorf("%q: an error and a spec that allows something", c.toml)
			}
		})
	}
}

func TestAnErrorNamesASpecWithoutAFile(t *testing.T) {
	_, err := Parse([]byte("x = 1"), "")
	if err == nil || !strings.HasPrefix(err.Error(), "spec:1: ") {
		t.Error(err)
	}
}

func TestLogAndLimits(t *testing.T) {
	s, err := Parse([]byte("[log]\nrequired = true\n[limits]\ncalls = 64"), "f.toml")
	if err != nil || !s.LogRequired() || s.MaxCalls() != 64 || s.Mode() != policy.ModeOpen {
		t.Errorf("required %v, calls %d, mode %s, %v", s.LogRequired(), s.MaxCalls(), s.Mode(), err)
	}
	if s, err = s.With(Flags{Endpoints: []string{"a.test"}}); err != nil || !s.LogRequired() || s.MaxCalls() != 64 {
		t.Errorf("flags changed the log or the limits: %v, %d, %v", s.LogRequired(), s.MaxCalls(), err)
	}
	s, err = Parse([]byte("[log]\n[limits]"), "f.toml")
	if err != nil || s.LogRequired() || s.MaxCalls() != 16384 {
		t.Errorf("required %v, calls %d, %v", s.LogRequired(), s.MaxCalls(), err)
	}
}

func TestTheDefaultIsOpenAndTheZeroValueIsClosed(t *testing.T) {
	d := Default()
	if d.Mode() != policy.ModeOpen || d.LogRequired() || d.MaxCalls() != 16384 || len(d.Rules().Ports()) != 0 {
		t.Errorf("%+v", d)
	}
	var zero Spec
	if zero.Mode() != policy.ModeNone || zero.Rules().Port(80).Allowed || zero.MaxCalls() != 16384 {
		t.Errorf("%+v", zero)
	}
}

func TestWarningsNameEndpointsOfNoUse(t *testing.T) {
	s, err := Parse([]byte("[network]\nendpoints = [\"a.test\", \"169.254.169.254\", \"169.254.0.0/16\", \"b.invalid\", \"10.0.0.0/8\"]"), "f.toml")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`endpoint "169.254.169.254": every call to it is refused: a cloud's metadata service`,
		`endpoint "169.254.0.0/16": every call to it is refused: a link-local address`,
		`endpoint "b.invalid": every call to it is refused: a name that no name server is asked about`,
	}
	if got := s.Warnings(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := Default().Warnings(); got != nil {
		t.Errorf("%q", got)
	}
}

// TestEveryKeyIsSaidWhatItIs keeps the words about keys in step with the sections' types.
func TestEveryKeyIsSaidWhatItIs(t *testing.T) {
	var declared []string
	for section := range reflect.TypeFor[document]().Fields() {
		name := section.Tag.Get("toml")
		declared = append(declared, name)
		for key := range section.Type.Elem().Fields() {
			declared = append(declared, name+"."+key.Tag.Get("toml"))
		}
	}
	slices.Sort(declared)
	if said := slices.Sorted(maps.Keys(kinds)); !slices.Equal(said, declared) {
		t.Errorf("said of %v, declared %v", said, declared)
	}
}
