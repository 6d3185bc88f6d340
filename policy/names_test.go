package policy

import (
	"strings"
	"testing"
)

func TestNamesHaveOneForm(t *testing.T) {
	long := strings.Repeat("a", 63)
	for sentence, c := range map[string]struct{ spelt, normal string }{
		"a name in normal form stays":                       {"allowed.test", "allowed.test"},
		"capitals are lowered":                              {"Allowed.TEST", "allowed.test"},
		"one trailing dot is dropped":                       {"allowed.test.", "allowed.test"},
		"an umlaut becomes an A-label":                      {"bücher.test", "xn--bcher-kva.test"},
		"an umlaut that is composed becomes the same":       {"bu\u0308cher.test", "xn--bcher-kva.test"},
		"an A-label stays":                                  {"xn--bcher-kva.test", "xn--bcher-kva.test"},
		"an A-label in capitals is lowered":                 {"XN--BCHER-KVA.test", "xn--bcher-kva.test"},
		"an ideographic full stop is a dot":                 {"allowed。test", "allowed.test"},
		"a full-width full stop is a dot":                   {"allowed．test", "allowed.test"},
		"a half-width ideographic full stop is a dot":       {"allowed｡test", "allowed.test"},
		"full-width letters are letters":                    {"ａｌｌｏｗｅｄ.test", "allowed.test"},
		"a Kelvin sign is a k":                              {"\u212a.test", "k.test"},
		"a soft hyphen is nothing":                          {"al\u00adlowed.test", "allowed.test"},
		"a sharp s is no double s":                          {"faß.test", "xn--fa-hia.test"},
		"right-to-left names work":                          {"אבג.test", "xn--4dbcd.test"},
		"a symbol works, as registries have sold them":      {"💩.test", "xn--ls8h.test"},
		"an underscore stands":                              {"_dmarc.allowed.test", "_dmarc.allowed.test"},
		"an underscore stands beside an umlaut":             {"_dmarc.bücher.test", "_dmarc.xn--bcher-kva.test"},
		"hyphens stand in the third and fourth place":       {"r3---sn-x.test", "r3---sn-x.test"},
		"a hyphen stands in front":                          {"-a.test", "-a.test"},
		"a single label is a name":                          {"localhost", "localhost"},
		"a label may begin with a digit":                    {"3com.test", "3com.test"},
		"a number may stand anywhere but last":              {"1.2.3.test", "1.2.3.test"},
		"0x may begin a word":                               {"a.0xyz", "a.0xyz"},
		"a label of 63 octets is the longest":               {long + ".test", long + ".test"},
		"a name of 253 octets is the longest":               {strings.Repeat("abc.", 63) + "x", strings.Repeat("abc.", 63) + "x"},
		"a name of 253 octets may have its trailing dot":    {strings.Repeat("abc.", 63) + "x.", strings.Repeat("abc.", 63) + "x"},
		"a name that holds localhost is only a name":        {"localhost.allowed.test", "localhost.allowed.test"},
		"a name with an address in its labels is only that": {"169-254-169-254.nip.test", "169-254-169-254.nip.test"},
	} {
		t.Run(sentence, func(t *testing.T) {
			n, err := ParseName(c.spelt)
			if err != nil || n.String() != c.normal {
				t.Fatalf("ParseName(%q) = %q, %v; want %q", c.spelt, n, err, c.normal)
			}
		})
	}
}

func TestWhatIsNoName(t *testing.T) {
	for sentence, c := range map[string]struct{ spelt, why string }{
		"nothing":                                {"", "empty"},
		"a dot alone":                            {".", "an empty label"},
		"two trailing dots":                      {"allowed.test..", "an empty label"},
		"a leading dot":                          {".allowed.test", "an empty label"},
		"an empty label":                         {"allowed..test", "an empty label"},
		"an empty label that was ideographic":    {"allowed。。test", "an empty label"},
		"a label of 64 octets":                   {strings.Repeat("a", 64) + ".test", "a label longer than 63 octets"},
		"a name of 300 octets":                   {strings.Repeat("a.", 150) + "test", "longer than 253 octets"},
		"an U-label that gets too long":          {strings.Repeat("ü", 63) + ".test", "a label longer than 63 octets"},
		"60 KB":                                  {strings.Repeat("a", 60<<10), "too long"},
		"60 KB of soft hyphens":                  {"a" + strings.Repeat("\u00ad", 30<<10) + ".test", "too long"},
		"an address":                             {"203.0.113.10", "it ends in a number, as an address does"},
		"a number":                               {"2852039166", "it ends in a number, as an address does"},
		"a hexadecimal number":                   {"0x7f000001", "it ends in a number, as an address does"},
		"a bare 0x":                              {"0x", "it ends in a number, as an address does"},
		"a name that ends in a number":           {"allowed.1", "it ends in a number, as an address does"},
		"a name that ends in a hexadecimal one":  {"allowed.0xfe", "it ends in a number, as an address does"},
		"full-width digits":                      {"１６９.254.169.254", "it ends in a number, as an address does"},
		"an IPv6 address":                        {"::1", `':' can't stand in a name`},
		"brackets":                               {"[::1]", `'[' can't stand in a name`},
		"a port":                                 {"allowed.test:80", `':' can't stand in a name`},
		"a user":                                 {"good.test@evil.test", `'@' can't stand in a name`},
		"a path":                                 {"good.test/evil", `'/' can't stand in a name`},
		"a path by a compatibility form":         {"good.test\u2100.evil.test", `'/' can't stand in a name`},
		"a full-width slash":                     {"good.test／evil", `'/' can't stand in a name`},
		"a wildcard":                             {"*.good.test", `'*' can't stand in a name`},
		"a percent escape":                       {"allowed%2etest", `'%' can't stand in a name`},
		"a backslash, as DNS tools escape":       {`a\.b.test`, `'\\' can't stand in a name`},
		"a space":                                {"allowed .test", `' ' can't stand in a name`},
		"a newline":                              {"allowed.test\n", `'\n' can't stand in a name`},
		"a NUL":                                  {"allowed.test\x00.evil.test", `'\x00' can't stand in a name`},
		"an escape sequence":                     {"\x1b[2J.test", `'\x1b' can't stand in a name`},
		"a right-to-left override":               {"\u202eallowed.test", "not a valid internationalised name"},
		"a line separator":                       {"allowed\u2028.test", "not a valid internationalised name"},
		"octets that are not UTF-8":              {"allowed\xff.test", "not UTF-8"},
		"a surrogate":                            {"allowed\xed\xa0\x80.test", "not UTF-8"},
		"an A-label without Punycode":            {"xn--a.test", "xn-- holds no valid name"},
		"an A-label that decodes to plain ASCII": {"xn--allowed-.test", "xn-- holds no valid name"},
		"an A-label of a letter not in its form": {"xn--BCHER-Kva0a.test", "xn-- holds no valid name"},
		"an empty A-label":                       {"xn--.test", "xn-- holds no valid name"},
	} {
		t.Run(sentence, func(t *testing.T) {
			n, err := ParseName(c.spelt)
			if err == nil || !n.IsZero() {
				t.Fatalf("ParseName(%.80q) = %q, want an error", c.spelt, n)
			}
			if !strings.HasSuffix(err.Error(), ": "+c.why) {
				t.Errorf("ParseName(%.80q): %v, want %q", c.spelt, err, c.why)
			}
			if len(err.Error()) > 500 {
				t.Errorf("the error is %d octets long", len(err.Error()))
			}
		})
	}
}

func TestUnderMatchesAtLabelBorders(t *testing.T) {
	good := mustName("good.test")
	for sentence, c := range map[string]struct {
		name string
		want bool
	}{
		"a name one label below":        {"a.good.test", true},
		"a name two labels below":       {"a.b.good.test", true},
		"itself":                        {"good.test", false},
		"a name that ends alike":        {"evilgood.test", false},
		"a name that begins alike":      {"good.test.evil.test", false},
		"its parent":                    {"test", false},
		"a shorter name that ends it":   {"d.test", false},
		"a label that is its last part": {"xgood.test", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := mustName(c.name).Under(good); got != c.want {
				t.Errorf("%s under %s: %v", c.name, good, got)
			}
		})
	}
	if mustName("a.test").Under(Name{}) || (Name{}).Under(good) || (Name{}).Under(Name{}) {
		t.Error("the zero name holds a name, or lies below one")
	}
}

func TestSingleLabel(t *testing.T) {
	for name, want := range map[string]bool{"localhost": true, "metadata": true, "a.test": false} {
		if got := mustName(name).SingleLabel(); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (Name{}).SingleLabel() {
		t.Error("the zero name has a label")
	}
}

// spellings are seeds for what reads names and hosts.
var spellings = []string{
	"allowed.test", "Allowed.TEST.", "bücher.test", "xn--bcher-kva.test", "allowed。test", "allowed..test", ".", "",
	"0x7f000001", "2852039166", "0251.0376.0251.0376", "169.254.43518", "169。254。169。254", "１６９.254.169.254", "169%2e254%2E169.254",
	"[::ffff:a9fe:a9fe]", "[fe80::1%25eth0]", "::1", "[", "]", "%", "%f", "xn--", "xn--a", "a\x00b", "\xff", "\u202e", "faß.test", "_a._b.c",
	"good.test@evil.test", "good.test/x", "*.good.test", "0x", "0x.0x", "1.2.3.4.5", "09.1", "256.256", "a.0xg", "İ.test", "ǅ.test", "ẞ.test",
	"\u200d.test", "क्\u200dष.test", "xn--zca.test", "a\u00ad.test", "≠.test", "=\u0338.test", "xn--1ch.test", "xn--hgi.test",
}

func FuzzParseName(f *testing.F) {
	for _, s := range spellings {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseName(s)
		if err != nil {
			if !n.IsZero() {
				t.Fatalf("%q: an error and a name", s)
			}
			return
		}
		form := n.String()
		if again, err := ParseName(form); err != nil || again != n {
			t.Fatalf("%q: %q isn't its own form: %q, %v", s, form, again, err)
		}
		if dotted, err := ParseName(form + "."); err != nil || dotted != n {
			t.Fatalf("%q: a trailing dot makes %q another name: %q, %v", s, form, dotted, err)
		}
		if upper, err := ParseName(strings.ToUpper(form)); err != nil || upper != n {
			t.Fatalf("%q: capitals make %q another name: %q, %v", s, form, upper, err)
		}
		if len(form) == 0 || len(form) > maxName || strings.Trim(form, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			t.Fatalf("%q: %q is no name", s, form)
		}
		for label := range strings.SplitSeq(form, ".") {
			if len(label) == 0 || len(label) > maxLabel {
				t.Fatalf("%q: %q has a label %q", s, form, label)
			}
		}
		if h, err := ParseHost(form); err != nil || h != HostNamed(n) {
			t.Fatalf("%q: as a host %q is %v, %v", s, form, h, err)
		}
	})
}
