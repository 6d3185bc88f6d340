package settings

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

func TestParseName(t *testing.T) {
	tests := map[string]struct {
		in string
		ok bool
	}{
		"letters, digits, dash, dot, underscore": {"aZ-09._", true},
		"one character":                          {"7", true},
		"64 characters":                          {strings.Repeat("a", 64), true},
		"65 characters":                          {strings.Repeat("a", 65), false},
		"nothing":                                {"", false},
		"a dot first":                            {".a", false},
		"a dash first":                           {"-a", false},
		"a path":                                 {"a/b", false},
		"a space":                                {"a b", false},
		"a newline at the end":                   {"a\n", false},
		"an escape":                              {"a\x1b[2J", false},
		"a right-to-left override":               {"a\u202e", false},
		"a letter that only looks like ASCII":    {"а", false},
		"not UTF-8":                              {"a\xff", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseName(tt.in)
			if (err == nil) != tt.ok || tt.ok && string(got) != tt.in {
				t.Fatalf("got %q, %v", got, err)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\n\u202e") {
				t.Errorf("the error repeats what was given as it is: %q", err)
			}
			if Name(tt.in).Valid() != tt.ok {
				t.Error("Valid says otherwise")
			}
		})
	}
}

func TestNameInAFileIsChecked(t *testing.T) {
	var v struct{ Name Name }
	if err := json.Unmarshal([]byte(`{"Name":"a-1"}`), &v); err != nil || v.Name != "a-1" {
		t.Errorf("got %q, %v", v.Name, err)
	}
	if err := json.Unmarshal([]byte(`{"Name":"../x"}`), &v); err == nil {
		t.Errorf("took %q", v.Name)
	}
}

func TestNameAfter(t *testing.T) {
	for program, want := range map[string]string{
		"assist":                      `^assist-[a-z2-7]{4}$`,
		"/usr/bin/python3.13":         `^python3\.13-[a-z2-7]{4}$`,
		"./.hidden tool":              `^hidden-tool-[a-z2-7]{4}$`,
		"\x1b[2J\n":                   `^2J--[a-z2-7]{4}$`,
		"":                            `^program-[a-z2-7]{4}$`,
		"/":                           `^program-[a-z2-7]{4}$`,
		"中文":                          `^program-[a-z2-7]{4}$`,
		strings.Repeat("long", 100):   `^(long){14}lon-[a-z2-7]{4}$`,
		"/opt/my app/bin/run (1).exe": `^run--1-\.exe-[a-z2-7]{4}$`,
	} {
		got := NameAfter(program)
		if !got.Valid() || !regexp.MustCompile(want).MatchString(string(got)) {
			t.Errorf("%q: got %q, want %s", program, got, want)
		}
	}
	different := map[Name]bool{}
	for range 4 {
		different[NameAfter("a")] = true
	}
	if len(different) == 1 {
		t.Error("four runs have one name")
	}
}

func FuzzNameAfter(f *testing.F) {
	f.Add("assist")
	f.Add("../..")
	f.Add("\xff\x00")
	f.Fuzz(func(t *testing.T, program string) {
		if n := NameAfter(program); !n.Valid() {
			t.Errorf("%q is not a name", n)
		}
	})
}
