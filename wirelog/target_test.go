package wirelog

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTarget(t *testing.T) {
	long := strings.Repeat("a", 400)
	tests := map[string]struct {
		got  Target
		want string
	}{
		"a name and a port":                            {HostPort("api.github.com", 443), "api.github.com:443"},
		"an IPv4 address":                              {HostPort("203.0.113.10", 22), "203.0.113.10:22"},
		"an IPv6 address gets brackets":                {HostPort("2001:db8::1", 443), "[2001:db8::1]:443"},
		"an IPv6 address that has brackets":            {HostPort("[2001:db8::1]", 443), "[2001:db8::1]:443"},
		"a zone":                                       {HostPort("fe80::1%eth0", 80), "[fe80::1%eth0]:80"},
		"a host with a port of its own can't be taken": {HostPort("allowed.test:443", 80), "[allowed.test:443]:80"},
		"a bracket that isn't closed":                  {HostPort("[::1", 80), "[[::1]:80"},
		"no host":                                      {HostPort("", 80), "-:80"},
		"this machine's port":                          {PortTarget(5432), "5432"},
		"a name alone":                                 {NameTarget("_dmarc.example.org"), "_dmarc.example.org"},
		"no name":                                      {NameTarget(""), "-"},
		"the zero value":                               {Target{}, "-"},
		"300 characters":                               {NameTarget(long[:300]), long[:300]},
		"301 characters are cut to 300":                {NameTarget(long[:301]), long[:299] + "…"},
		"a cut host keeps its port":                    {HostPort(long, 443), long[:295] + "…:443"},
		"a cut address keeps brackets and port":        {HostPort(":"+long, 443), "[:" + long[:292] + "…]:443"},
		"an escape isn't cut in its midst":             {NameTarget(long[:297] + "\x01x"), long[:297] + "…"},
		"an escape that just fits":                     {NameTarget(long[:296] + "\x01"), long[:296] + `\x01`},

		"a path is cut off":                 {HostPort("a.test/secret", 80), "a.test…:80"},
		"a query is cut off":                {HostPort("a.test?secret", 80), "a.test…:80"},
		"a fragment is cut off":             {HostPort("a.test#secret", 80), "a.test…:80"},
		"a user and password are cut off":   {HostPort("user:secret@a.test", 80), "…a.test:80"},
		"a user's name with a slash":        {NameTarget("user/x:secret@a.test"), "user…"},
		"another header is cut off":         {HostPort("a.test\r\nAuthorization: secret", 80), "a.test…:80"},
		"a path alone":                      {NameTarget("/secret"), "…"},
		"a cut name with a path: one mark":  {NameTarget(long + "/secret"), long[:298] + "…"},
		"a space":                           {NameTarget("a b"), `a\x20b`},
		"a parenthesis":                     {NameTarget("a(b)"), `a\x28b\x29`},
		"quotes":                            {NameTarget("'\"`"), `\x27\x22\x60`},
		"a backslash":                       {NameTarget(`a\x20b`), `a\\x20b`},
		"a NUL":                             {NameTarget("a\x00"), `a\x00`},
		"an escape sequence":                {NameTarget("\x1b[2J"), `\x1b[2J`},
		"a tab and DEL":                     {NameTarget("\t\x7f"), `\x09\x7f`},
		"a C1 control":                      {NameTarget("\u009b2J"), `\u{9b}2J`},
		"a right-to-left override":          {NameTarget("a\u202eb"), `a\u{202e}b`},
		"an isolate":                        {NameTarget("a\u2066b"), `a\u{2066}b`},
		"a line separator":                  {NameTarget("a\u2028b"), `a\u{2028}b`},
		"a no-break space":                  {NameTarget("a\u00a0b"), `a\u{a0}b`},
		"a zero-width space":                {NameTarget("a\u200bb"), `a\u{200b}b`},
		"a Hangul filler, a letter, unseen": {NameTarget("a\u3164b"), `a\u{3164}b`},
		"a Hebrew letter runs leftwards":    {NameTarget("א"), `\u{5d0}`},
		"a Cyrillic letter looks like a":    {NameTarget("аllowed.test"), `\u{430}llowed.test`},
		"a combining mark":                  {NameTarget("a\u0301"), `a\u{301}`},
		"a tag character":                   {NameTarget("\U000e0041"), `\u{e0041}`},
		"the mark of a cut can't be forged": {NameTarget("a…"), `a\u{2026}`},
		"invalid UTF-8":                     {NameTarget("a\xff\xc3"), `a\xff\xc3`},
		"a surrogate in UTF-8":              {NameTarget("\xed\xa0\x80"), `\xed\xa0\x80`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.got.String(); got != tt.want {
				t.Fatalf("got  %s\nwant %s", got, tt.want)
			}
			checkTarget(t, tt.got)
		})
	}
}

// checkTarget: one word, printable ASCII and marks, at most 300 characters, and Parse takes it for the same target.
func checkTarget(t *testing.T, target Target) {
	t.Helper()
	s := target.String()
	if s == "" || strings.ContainsAny(s, " \"'`()/?#@") || utf8.RuneCountInString(s) > 300 {
		t.Errorf("not a target: %q", s)
	}
	for _, c := range s {
		if c != '…' && (c <= ' ' || c > '~') {
			t.Errorf("%q holds %q", s, c)
		}
	}
	if back, ok := parseTarget(s); !ok || back != target {
		t.Errorf("%q is read as %q, %v", s, back.s, ok)
	}
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"", "-", "a.test", "::1", "[::1]:80", "u:p@h/p?q#f", "\x1b[2J\u202e\xff", "a\r\nb: c", strings.Repeat("é", 400)} {
		f.Add(s, uint16(443))
	}
	f.Fuzz(func(t *testing.T, s string, port uint16) {
		checkTarget(t, HostPort(s, port))
		checkTarget(t, NameTarget(s))
	})
}

// Whatever a request holds beside its host, none of it reaches a line: not its path, query, headers or body, and not a
// user's name and password in its URL. Even where the whole URL, or all that follows a Host's name, is taken for a
// host.
func FuzzNothingOfARequestReachesTheLine(f *testing.F) {
	f.Add("/path", "q=1", "value", "body", "user", "word")
	f.Add("//x@y", "a b", "v\tw", "{}", "u%40", "p/p")
	f.Add("\x00", "a#b", "v\r\nw", "\xff", "", ":")
	const secret = "S3CR3Tx9"
	f.Fuzz(func(t *testing.T, path, query, header, body, user, word string) {
		user, word = url.QueryEscape(user+secret), url.QueryEscape(word+secret)
		authority := user + ":" + word + "@a.test"
		rest := "/" + path + secret + "?" + query + secret
		headers := "\r\nX-Header: " + header + secret + "\r\n\r\n" + body + secret
		request := "GET http://" + authority + rest + " HTTP/1.1\r\nHost: a.test" + headers
		taken := []string{authority, authority + rest, "a.test" + rest, "a.test" + headers, "http://" + authority + rest}
		if r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request))); err == nil {
			taken = append(taken, r.Host, r.URL.Host, r.URL.String())
		}
		for _, host := range taken {
			for _, target := range []Target{HostPort(host, 80), NameTarget(host)} {
				line := Format(Record{Verb: HTTP, Target: target, Outcome: Allowed})
				if strings.Contains(line, secret) {
					t.Errorf("%q\nof the host %q", line, host)
				}
			}
		}
	})
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"a plain text (with all) \"that\" is printable": "a plain text (with all) \"that\" is printable",
		"\x1b]0;title\a": `\x1b]0;title\x07`,
		"é\u202e\n":      `\u{e9}\u{202e}\x0a`,
		"cut…":           "cut…",
		`back\slash`:     `back\slash`,
	} {
		if got := Clean(in); got != want || Clean(got) != got {
			t.Errorf("%q: got %q, then %q; want %q", in, got, Clean(got), want)
		}
	}
	if got := Clean(strings.Repeat("a", 5000)); got != strings.Repeat("a", 999)+"…" || Clean(got) != got {
		t.Errorf("a long text: %d characters", utf8.RuneCountInString(got))
	}
}
