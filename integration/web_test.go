package integration

import (
	"slices"
	"strings"
	"testing"

	"lnk/integration/internet"
	"lnk/wirelog"
)

func TestAllowedHTTPS(t *testing.T) {
	each(t, []string{"allowed"}, func(s *stage) {
		r := s.run("-a allowed.test", "curl", "-sS", "-v", "https://allowed.test/")
		s.ok(r, internet.NginxPage)
		if !strings.Contains(r.Stderr, "issuer: CN="+internet.AuthorityName) {
			s.t.Errorf("the certificate isn't the server's own: %v", r)
		}
		calls := s.settled("allowed")
		if len(calls) != 1 {
			s.t.Fatalf("the server saw %d calls, want 1", len(calls))
		}
		want := []string{"dns allowed.test allowed", "connect allowed.test:443 allowed", "connect allowed.test:443 ended"}
		if got := s.lines(); !slices.EqualFunc(got, want, strings.HasPrefix) {
			s.t.Fatalf("the log holds %q, want %q", got, want)
		}
		end := s.log()[2]
		if end.Out != calls[0].In || end.In != calls[0].Out {
			s.t.Errorf("the log counts %d out and %d in; the server got %d and sent %d", end.Out, end.In, calls[0].In, calls[0].Out)
		}
	})
}

func TestRefusedHTTPS(t *testing.T) {
	each(t, nil, func(s *stage) {
		r := s.run("-a allowed.test", "curl", "-sS", "-w", "%{http_code}", "https://denied.test/secret-path?secret-query")
		for _, want := range []string{"403", "denied.test", "not an allowed endpoint"} {
			if !strings.Contains(r.Stdout, want) {
				s.t.Errorf("the refusal doesn't say %q: %v", want, r)
			}
		}
		s.promptly(r)
		s.wantLines(1, "dns denied.test refused", "connect denied.test:443 refused")
		s.wantLines(0, "connect denied.test:443 allowed", "unknown")
		s.unasked("denied.test")
		s.unreached("denied")
	})
}

func TestRefusedHTTPInWords(t *testing.T) {
	each(t, nil, func(s *stage) {
		r := s.run("-a allowed.test", "curl", "-sS", "-w", "%{http_code}", "http://denied.test/secret-path?secret-query")
		for _, want := range []string{"403", "denied.test", "not an allowed endpoint"} {
			if !strings.Contains(r.Stdout, want) {
				s.t.Errorf("the refusal doesn't say %q: %v", want, r)
			}
		}
		s.promptly(r)
		s.wantLines(1, "dns denied.test refused", "http denied.test:80 refused")
		if strings.Contains(s.logText(), "secret") {
			s.t.Errorf("the log holds a path: %s", s.logTail())
		}
		s.unasked("denied.test")
		s.unreached("denied")
	})
}

func TestEachHTTPRequestIsACall(t *testing.T) {
	each(t, nil, func(s *stage) {
		r := s.run("-a shared.test -a one.test", "curl", "-sS", "http://shared.test/a", "http://shared.test/status/204", "http://one.test/b")
		s.ok(r, "hello from shared.test")
		s.wantLines(2, "http shared.test:80 allowed", "http shared.test:80 ended")
		s.wantLines(1, "http one.test:80 allowed", "http one.test:80 ended")
		if got := len(s.Server("shared").Requests()); got != 3 {
			s.t.Errorf("the server saw %d requests, want 3", got)
		}
	})
}

func TestClients(t *testing.T) {
	page := strings.TrimSpace(internet.NginxPage)
	clients := map[string][]string{
		"curl":                 {"curl", "-sS", "https://allowed.test/"},
		"curl by IPv6":         {"curl", "-sS", "-6", "https://allowed.test/"},
		"curl by IPv4":         {"curl", "-sS", "-4", "https://allowed.test/"},
		"curl, HTTP/1.1":       {"curl", "-sS", "--http1.1", "https://allowed.test/"},
		"curl, no encryption":  {"curl", "-sS", "-6", "http://allowed.test/"},
		"curl, an IPv6-only":   {"curl", "-sS", "http://v6only.test/"},
		"wget":                 {"wget", "-qO-", "https://allowed.test/"},
		"wget, no encryption":  {"wget", "-qO-", "http://allowed.test/"},
		"python":               {"/usr/bin/python3", "-c", "import urllib.request as u; print(u.urlopen('https://allowed.test/').read().decode())"},
		"node":                 {"node", "-e", "fetch('https://allowed.test/').then(r => r.text()).then(console.log)"},
		"go, post-quantum":     {"world-client", "get", "https://allowed.test/"},
		"upper case, last dot": {"curl", "-sS", "http://ALLOWED.test./"},
		"alias":                {"curl", "-sS", "http://alias.test/"},
	}
	each(t, []string{"allowed"}, func(s *stage) {
		for what, client := range clients {
			if r := s.run("-a allowed.test -a v6only.test -a alias.test", client...); r.Status != 0 || !strings.Contains(r.Stdout, page) {
				s.t.Errorf("%s: %v\nthe log:\n%s", what, r, s.logTail())
			}
		}
		s.wantLines(0, "unknown", "tcp")
		for _, line := range s.lines(wirelog.Connect, wirelog.HTTP) {
			if strings.HasSuffix(line, "refused") || strings.HasSuffix(line, "failed") {
				s.t.Errorf("a client of several addresses was refused one: %s", line)
			}
		}
	})
}

func TestPostQuantumHello(t *testing.T) {
	each(t, []string{"allowed"}, func(s *stage) {
		r := s.run("-a big.test", "world-client", "get", "https://big.test/")
		s.ok(r, "hello from big.test")
		if !strings.Contains(r.Stderr, "X25519MLKEM768 issuer="+internet.AuthorityName) {
			s.t.Errorf("the key exchange isn't the post-quantum one, or the certificate isn't the server's: %v", r)
		}
		r = s.run("-a big.test", "world-client", "get", "https://denied.test/")
		if !strings.Contains(r.Stdout, "refused") || strings.Contains(r.Stderr, "issuer="+internet.AuthorityName) {
			s.t.Errorf("the call wasn't refused in words: %v", r)
		}
		s.wantLines(1, "connect big.test:443 allowed", "connect big.test:443 ended")
		s.wantLines(0, "unknown")
		s.unreached("denied")
	})
}

// TestShownName is one server for many names: the name shown decides, however the connection was made.
func TestShownName(t *testing.T) {
	each(t, nil, func(s *stage) {
		for what, client := range map[string][]string{
			"an SNI that isn't allowed": {"curl", "-sSf", "--resolve", "other.test:443:203.0.113.30", "https://other.test/"},
			"a Host that isn't allowed": {"curl", "-sSf", "--resolve", "other.test:80:203.0.113.30", "http://other.test/"},
			"a Host beside a lookup":    {"sh", "-c", "getent hosts shared.test && curl -sSf -H 'Host: other.test' http://shared.test/"},
		} {
			if r := s.run("-a shared.test", client...); r.Status == 0 {
				s.t.Errorf("%s: the call went through: %v", what, r)
			}
		}
		for _, r := range s.Server("shared").Requests() {
			s.t.Errorf("the server was asked for %s", r.Host)
		}
	})
}

// TestAllowedNameOverAnothersAddress is a program that claims an allowed name to whom it likes.
func TestAllowedNameOverAnothersAddress(t *testing.T) {
	each(t, []string{"allowed"}, func(s *stage) {
		for _, url := range []string{"http://allowed.test/", "https://allowed.test/"} {
			s.ok(s.run("-a allowed.test", "curl", "-sSk", "--resolve", "allowed.test:80:203.0.113.66", "--resolve", "allowed.test:443:203.0.113.66", url), internet.NginxPage)
		}
		s.unreached("evil")
	})
}
