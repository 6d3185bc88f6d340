package integration

import (
	"fmt"
	"strings"
	"testing"
)

// connectTo opens a connection to an address, says something with an innocent Host, and prints what comes.
const connectTo = `
import socket, sys
try:
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
    s.sendall(b"GET /latest/meta-data/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n")
    print(s.recv(1000))
except OSError as e:
    print(e)
`

// TestMetadata calls the clouds' metadata services in many spellings. The traps' own check, after each test, is that not
// one packet came; here, that the sandbox is paused by itself, with its line, whatever it is allowed.
func TestMetadata(t *testing.T) {
	python := func(host, port string) []string { return []string{"/usr/bin/python3", "-c", connectTo, host, port} }
	for what, program := range map[string][]string{
		"the address":                {"curl", "-sS", "http://169.254.169.254/latest/meta-data/"},
		"the address, encrypted":     {"curl", "-sSk", "https://169.254.169.254/"},
		"another port":               {"curl", "-sS", "http://169.254.169.254:8080/"},
		"a number":                   {"wget", "-qO-", "http://2852039166/"},
		"a hexadecimal number":       {"wget", "-qO-", "http://0xA9FEA9FE/"},
		"octal parts":                {"curl", "-sS", "http://0251.0376.0251.0376/"},
		"three parts":                {"curl", "-sS", "http://169.254.43518/"},
		"a raw connection":           python("169.254.169.254", "80"),
		"a port of no protocol":      python("169.254.169.254", "32526"),
		"mapped":                     python("::ffff:169.254.169.254", "80"),
		"NAT64":                      python("64:ff9b::a9fe:a9fe", "80"),
		"IPv6":                       {"curl", "-sS", "http://[fd00:ec2::254]/"},
		"a container's":              {"curl", "-sS", "http://169.254.170.2/"},
		"another cloud's":            {"curl", "-sS", "http://100.100.100.200/"},
		"and another's":              python("168.63.129.16", "32526"),
		"by name":                    {"curl", "-sS", "http://metadata.google.internal/"},
		"by a name that leads there": {"curl", "-sS", "http://meta1.test/"},
		"a Host over another's":      {"curl", "-sS", "-H", "Host: 169.254.169.254", "http://203.0.113.30/"},
	} {
		t.Run(what, func(t *testing.T) {
			s := enter(t, "rootless")
			s.DNS.Add(t, "meta1.test. 0 IN A 169.254.169.254")
			sh := s.session("it", "-a 169.254.0.0/16:* -a 203.0.113.30:* -a *.test:* -a 169.254.169.254:* -a metadata.google.internal:*")
			r := sh.do(quote(program))
			if strings.Contains(r.Stdout, "AKIA") {
				t.Errorf("the secret got out: %v", r)
			}
			s.promptly(r)
			if n := s.count("pause"); n != 1 {
				t.Errorf("%d pause lines, want 1; the log:\n%s", n, s.logTail())
			}
			s.ok(s.lnk("sandbox", "paused"), "it")
			s.ok(sh.do("curl -sS -w '%{http_code}' http://shared.test/"), "403")
			s.untold("shared")
		})
	}
}

func quote(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return strings.Join(quoted, " ")
}

// TestMentionIsNoCall names a metadata address in places that are no call.
func TestMentionIsNoCall(t *testing.T) {
	each(t, nil, func(s *stage) {
		for _, mention := range []string{"http://shared.test/?url=http://169.254.169.254/", "-H 'X-Forwarded-Host: 169.254.169.254' http://shared.test/", "-d 169.254.169.254 http://shared.test/"} {
			s.ok(s.run("-a shared.test", "sh", "-c", "curl -sSf "+mention), "")
		}
		s.wantLines(0, "pause")
		if got := fmt.Sprint(len(s.Server("shared").Requests())); got != "3" {
			s.t.Errorf("the server saw %s requests, want 3", got)
		}
	})
}
