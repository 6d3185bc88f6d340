package proxy

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"lnk/policy"
)

const door = "198.18.0.4:3128"

func TestATunnelIsJudgedByItsTargetAndByWhatGoesThroughIt(t *testing.T) {
	for sentence, test := range map[string]struct {
		target, sni string
		status      int
		line        string
	}{
		"an allowed name":                        {"allowed.test:443", "allowed.test", 200, "connect allowed.test:443 allowed"},
		"in another spelling":                    {"ALLOWED.test.:443", "allowed.test", 200, "connect allowed.test:443 allowed"},
		"a name that isn't allowed":              {"denied.test:443", "", 403, "connect denied.test:443 refused (" + string(policy.ReasonNameNotAllowed) + ")"},
		"an address that isn't allowed":          {evilAddr + ":443", "", 403, "connect " + evilAddr + ":443 refused (" + string(policy.ReasonAddressNotAllowed) + ")"},
		"a metadata service in another spelling": {"0xA9FEA9FE:80", "", 403, "tcp 169.254.169.254:80 refused (" + string(policy.ReasonMetadata) + ")"},
		"a port of this machine's not allowed":   {"localhost:5432", "", 403, "port 5432 refused (" + string(policy.ReasonPortNotAllowed) + ")"},
		"another name inside":                    {"allowed.test:443", "denied.test", 200, "connect denied.test:443 refused (the name it shows is not allowed)"},
		"the proxy itself":                       {"proxy.lnk.internal:3128", "", 403, "tcp proxy.lnk.internal:3128 refused (" + string(policy.ReasonSelf) + ")"},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t, "allowed.test")
			l.inZone("allowed.test", allowedAddr)
			l.server(allowedAddr+":443", tlsEcho)
			c := l.call(door)
			io.WriteString(c, "CONNECT "+test.target+" HTTP/1.1\r\nHost: "+test.target+"\r\n\r\n")
			br := bufio.NewReader(c)
			r, err := http.ReadResponse(br, &http.Request{Method: "CONNECT"})
			if err != nil || r.StatusCode != test.status {
				t.Fatalf("answer: %v, %v", r, err)
			}
			if test.sni != "" {
				inside := tls.Client(c, clientTLS(test.sni))
				_, err := inside.Write([]byte("hello"))
				if allowed := strings.HasSuffix(test.line, " allowed"); (err == nil) != allowed {
					t.Errorf("handshake: %v", err)
				}
				if err == nil {
					inside.CloseWrite()
					c.CloseWrite()
					if got := readAll(t, inside); got != "hello" {
						t.Errorf("echo: %q", got)
					}
				}
			}
			c.Close()
			l.stop()
			if got := l.lines(len(l.records)); got[0] != test.line {
				t.Errorf("log: %q, want %q", got, test.line)
			}
		})
	}
}

func TestARequestWithAnAbsoluteTargetGoesWhereItSays(t *testing.T) {
	l := newLab(t, "allowed.test", "allowed.test:8080")
	l.inZone("allowed.test", allowedAddr)
	l.web(allowedAddr+":80", echoPath)
	l.web(allowedAddr+":8080", echoPath)
	c := l.call(door)
	got := ask(t, c, "GET http://allowed.test/a?b HTTP/1.1\r\nHost: denied.test\r\n\r\n"+
		"GET http://allowed.test:8080/c HTTP/1.1\r\nHost: allowed.test:8080\r\nProxy-Connection: keep-alive\r\n\r\n"+
		"GET http://denied.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n"+
		"GET /origin HTTP/1.1\r\nHost: allowed.test\r\n\r\n", 4)
	if got[0] != "200 GET allowed.test /a?b " || got[1] != "200 GET allowed.test:8080 /c " || !strings.HasPrefix(got[2], "403 ") || !strings.HasPrefix(got[3], "400 ") {
		t.Errorf("answers: %q", got)
	}
}

func TestSOCKSIsJudgedLikeATunnel(t *testing.T) {
	byName := func(host string, port byte) string {
		return "\x05\x01\x00\x03" + string(rune(len(host))) + host + "\x1b" + string([]byte{port})
	}
	for sentence, test := range map[string]struct {
		request string
		reply   byte
		line    string
	}{
		"an allowed name":           {byName("allowed.test", 0x58), 0, "tcp allowed.test:7000 allowed"},
		"a name that isn't allowed": {byName("denied.test", 0x58), 2, "tcp denied.test:7000 refused (" + string(policy.ReasonNameNotAllowed) + ")"},
		"an address":                {"\x05\x01\x00\x01\xcb\x00\x71\x42\x1b\x58", 2, "tcp 203.0.113.66:7000 refused (" + string(policy.ReasonAddressNotAllowed) + ")"},
		"a command that isn't CONNECT": {"\x05\x02\x00\x01\xcb\x00\x71\x42\x1b\x58", 7,
			"tcp proxy.lnk.internal:3128 refused (malformed)"},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t, "allowed.test:7000")
			l.inZone("allowed.test", allowedAddr)
			l.server(allowedAddr+":7000", echo)
			l.mu.Lock()
			l.book[netip.MustParseAddrPort(door).Addr()] = []policy.Name{name(t, "proxy.lnk.internal")}
			l.mu.Unlock()
			c := l.call(door)
			io.WriteString(c, "\x05\x02\x02\x00"+test.request)
			got := make([]byte, 12)
			if _, err := io.ReadFull(c, got); err != nil || got[1] != 0 || got[3] != test.reply {
				t.Fatalf("answers: %v, %v", got, err)
			}
			if test.reply == 0 {
				io.WriteString(c, "ping")
				c.CloseWrite()
				if got := readAll(t, c); got != "ping" {
					t.Errorf("echo: %q", got)
				}
			}
			c.Close()
			l.stop()
			if got := l.lines(len(l.records)); got[0] != test.line {
				t.Errorf("log: %q, want %q", got, test.line)
			}
		})
	}
}
