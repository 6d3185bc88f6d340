package sandbox

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lnk/settings"
)

func TestProgramName(t *testing.T) {
	tests := map[string]struct{ program, want string }{
		"a file's name alone":                     {"/usr/bin/curl", "curl"},
		"dots and dashes inside stay":             {"./python3.11-dbg", "python3.11-dbg"},
		"what is no letter of a name is left out": {"/opt/my agent\n(2)", "myagent2"},
		"the first is a letter or a digit":        {"--.hidden", "hidden"},
		"nothing left is called run":              {"/opt/…", "run"},
		"a slash is called run":                   {"/", "run"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := programName(tt.program, 40); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMadeUpNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program := rapid.String().Draw(t, "program")
		name, err := madeUpName(program)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := settings.ParseName(string(name)); err != nil {
			t.Fatal(err)
		}
		base, suffix := string(name[:len(name)-suffixLength-1]), string(name[len(name)-suffixLength:])
		if base != programName(program, settings.MaxName-suffixLength-1) || strings.Trim(suffix, suffixLetters) != "" {
			t.Fatalf("%q isn't the program's name and %d letters", name, suffixLength)
		}
	})
}
