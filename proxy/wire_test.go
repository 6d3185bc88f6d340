package proxy

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"lnk/policy"
	"lnk/wirelog"
)

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("reading to the end: %v after %q", err, b)
	}
	return string(b)
}

// wantReset expects the connection to break and not to end.
func wantReset(t *testing.T, c net.Conn) {
	t.Helper()
	b, err := io.ReadAll(c)
	if len(b) > 0 || !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("got %q and %v, want a reset", b, err)
	}
}

func TestAnAllowedTLSCallSeesTheServersOwnCertificateAndItsBytesAreCounted(t *testing.T) {
	l := newLab(t, "allowed.test")
	l.named("allowed.test", allowedAddr)
	l.server(allowedAddr+":443", tlsEcho)
	raw := l.call(allowedAddr + ":443")
	c := tls.Client(raw, clientTLS("allowed.test"))
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if got := c.ConnectionState().PeerCertificates[0].Raw; !bytes.Equal(got, certificate().Certificate[0]) {
		t.Error("the certificate isn't the server's")
	}
	c.CloseWrite()
	raw.CloseWrite()
	if got := readAll(t, c); got != "hello" {
		t.Errorf("echo: %q", got)
	}
	l.wantLines("connect allowed.test:443 allowed", "connect allowed.test:443 ended")
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.records[1]
	if r.Out != l.out.Load() || r.In != l.in.Load() || r.Out == 0 || r.In == 0 {
		t.Errorf("ended with %d out %d in, the counters have %d and %d", r.Out, r.In, l.out.Load(), l.in.Load())
	}
}

func TestWhatAClientHelloShowsMustBeAllowedToo(t *testing.T) {
	for sentence, test := range map[string]struct {
		endpoints []string
		sni       string
		to        string
		want      []string
		reaches   string // the address that is reached, if any
	}{
		"a name that isn't allowed, over an allowed connection":      {[]string{"shared.test"}, "denied.test", sharedAddr, []string{"connect denied.test:443 refused (the name it shows is not allowed)"}, ""},
		"another allowed name goes where the connection goes":        {[]string{"shared.test", "allowed.test"}, "allowed.test", sharedAddr, []string{"connect allowed.test:443 allowed", "connect allowed.test:443 ended"}, sharedAddr},
		"an allowed name over a stranger's literal goes to its own":  {[]string{"allowed.test"}, "allowed.test", evilAddr, []string{"connect allowed.test:443 allowed", "connect allowed.test:443 ended"}, allowedAddr},
		"no name over a literal that isn't allowed":                  {[]string{"allowed.test"}, "", evilAddr, []string{"connect " + evilAddr + ":443 refused (" + string(policy.ReasonAddressNotAllowed) + ")"}, ""},
		"no name over an address that was given for an allowed name": {[]string{"shared.test"}, "", sharedAddr, []string{"connect shared.test:443 allowed", "connect shared.test:443 ended"}, sharedAddr},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t, test.endpoints...)
			l.named("shared.test", sharedAddr)
			l.inZone("allowed.test", allowedAddr)
			records := map[string]*serverRecord{}
			for _, a := range []string{allowedAddr, sharedAddr, evilAddr} {
				rec := l.server(a+":443", recording)
				records[a] = rec
			}
			config := clientTLS(test.sni)
			config.InsecureSkipVerify = true
			raw := l.call(test.to + ":443")
			raw.Write(helloBytes(t, config))
			raw.CloseWrite()
			io.Copy(io.Discard, raw)
			l.wantLines(test.want...)
			l.stop()
			for a, rec := range records {
				if got := rec.bytes() != ""; got != (a == test.reaches) {
					t.Errorf("%s read %d bytes", a, len(rec.bytes()))
				}
			}
		})
	}
}

// helloBytes is the ClientHello that a config sends.
func helloBytes(t *testing.T, config *tls.Config) []byte {
	t.Helper()
	client, server := net.Pipe()
	go tls.Client(client, config).Handshake()
	defer client.Close()
	defer server.Close()
	b := make([]byte, 16<<10)
	n, err := io.ReadAtLeast(server, b, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := 5 + int(b[3])<<8 + int(b[4])
	if n < want {
		if _, err := io.ReadFull(server, b[n:want]); err != nil {
			t.Fatal(err)
		}
	}
	return b[:want]
}

// reframed cuts the handshake message of a ClientHello into records of size bytes.
func reframed(hello []byte, size int) []byte {
	var out []byte
	for body := hello[5:]; len(body) > 0; {
		n := min(size, len(body))
		out = append(out, hello[0], hello[1], hello[2], byte(n>>8), byte(n))
		out = append(out, body[:n]...)
		body = body[n:]
	}
	return out
}

func TestAClientHelloIsReadHoweverItIsCut(t *testing.T) {
	for sentence, cut := range map[string]func([]byte) [][]byte{
		"whole":              func(h []byte) [][]byte { return [][]byte{h} },
		"a byte a segment":   func(h []byte) [][]byte { return bytes.SplitAfter(h, nil) },
		"records of 32":      func(h []byte) [][]byte { return [][]byte{reframed(h, 32)} },
		"records of 1":       func(h []byte) [][]byte { return [][]byte{reframed(h, 1)} },
		"after a lone first": func(h []byte) [][]byte { return [][]byte{h[:1], h[1:]} },
	} {
		for sni, want := range map[string]string{
			"allowed.test": "connect allowed.test:443 allowed",
			"denied.test":  "connect denied.test:443 refused (the name it shows is not allowed)",
		} {
			t.Run(sentence+", "+sni, func(t *testing.T) {
				l := newLab(t, "shared.test", "allowed.test")
				l.named("shared.test", sharedAddr)
				rec := l.server(sharedAddr+":443", recording)
				hello := helloBytes(t, &tls.Config{ServerName: sni, NextProtos: []string{strings.Repeat("x", 200)}})
				c := l.call(sharedAddr + ":443")
				var sent []byte
				for _, part := range cut(hello) {
					sent = append(sent, part...)
					c.Write(part)
				}
				c.CloseWrite()
				io.Copy(io.Discard, c)
				l.stop()
				l.mu.Lock()
				defer l.mu.Unlock()
				r := l.records[0]
				if got := string(r.Verb) + " " + r.Target.String() + " " + string(r.Outcome) + parenthesis(r.Reason); got != want {
					t.Errorf("log: %q, want %q", got, want)
				}
				if allowed := r.Outcome == wirelog.Allowed; allowed && rec.bytes() != string(sent) || !allowed && rec.bytes() != "" {
					t.Errorf("the server read %d bytes of %d", len(rec.bytes()), len(sent))
				}
			})
		}
	}
}

func parenthesis(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func TestMalformedFirstBytesReachNobody(t *testing.T) {
	hello := helloBytes(t, &tls.Config{ServerName: "shared.test"})
	for sentence, sent := range map[string][]byte{
		"a TLS alert before the hello":        append([]byte{0x15, 3, 1, 0, 2, 1, 90}, hello...),
		"a change of cipher before the hello": append([]byte{0x14, 3, 3, 0, 1, 1}, hello...),
		"a PROXY header after an empty line":  append([]byte("\r\nPROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n"), hello...),
		"a handshake record and no TLS":       {0x16, 0x00, 1, 2, 3, 4, 5},
		"a record that is too long":           {0x16, 3, 1, 0xff, 0xff, 1, 0, 0, 0},
		"an empty record":                     append([]byte{0x16, 3, 1, 0, 0}, hello...),
		"a hello that claims 16 MB":           {0x16, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff},
		"a hello cut short by the end":        hello[:len(hello)-1],
		"a PROXY protocol header of text":     append([]byte("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n"), hello...),
		"a PROXY protocol header of bytes":    append([]byte("\r\n\r\n\x00\r\nQUIT\n"), hello...),
		"an SNI that is no name":              helloBytes(t, &tls.Config{ServerName: "a..b"}),
		"an SNI of a metadata service":        nil, // below
		"an HTTP line with no request in it":  []byte("GET HTTP/1.1\r\n\r\n"),
	} {
		if sent == nil {
			continue
		}
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t, "shared.test")
			l.named("shared.test", sharedAddr)
			rec := l.server(sharedAddr+":443", recording)
			c := l.call(sharedAddr + ":443")
			c.Write(sent)
			c.CloseWrite()
			io.Copy(io.Discard, c)
			lines := l.lines(1)
			if !strings.HasSuffix(lines[0], " refused (malformed)") {
				t.Errorf("log: %q", lines)
			}
			l.stop()
			if got := rec.bytes(); got != "" {
				t.Errorf("the server read %q", got)
			}
		})
	}
}

func TestAServerThatSpeaksFirstIsNotMadeToWait(t *testing.T) {
	l := newLab(t, "banner.test:3306")
	l.named("banner.test", allowedAddr)
	l.server(allowedAddr+":3306", func(c *net.TCPConn, rec *serverRecord) {
		io.WriteString(c, "welcome\n")
		io.Copy(c, c)
	})
	c := l.call(allowedAddr + ":3306")
	if got := make([]byte, 8); true {
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "welcome\n" {
			t.Fatalf("banner: %q, %v", got, err)
		}
	}
	io.WriteString(c, "ping")
	c.CloseWrite()
	if got := readAll(t, c); got != "ping" {
		t.Errorf("echo: %q", got)
	}
	l.wantLines("tcp banner.test:3306 allowed", "tcp banner.test:3306 ended")
}

func TestTheFirstClientBytesAreJudgedWheneverTheyCome(t *testing.T) {
	hello := helloBytes(t, &tls.Config{ServerName: "denied.test"})
	for sentence, test := range map[string]struct {
		banner bool
		sent   string
		want   []string
	}{
		"a ClientHello after the server's words": {true, string(hello), []string{
			"connect shared.test:443 allowed", "connect denied.test:443 refused (the name it shows is not allowed)"}},
		"a request after the server's words": {true, "GET / HTTP/1.1\r\nHost: denied.test\r\n\r\n", []string{
			"connect shared.test:443 allowed", "connect shared.test:443 refused (malformed)"}},
		"a ClientHello after a long silence": {false, string(hello), []string{
			"connect shared.test:443 allowed", "connect denied.test:443 refused (the name it shows is not allowed)"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t, "shared.test")
			if !test.banner {
				l.quiet()
			}
			l.named("shared.test", sharedAddr)
			rec := l.server(sharedAddr+":443", func(c *net.TCPConn, rec *serverRecord) {
				if test.banner {
					io.WriteString(c, "hi\n")
				}
				io.Copy(rec, c)
			})
			c := l.call(sharedAddr + ":443")
			l.lines(1) // allowed, by the server's words or by silence
			io.WriteString(c, test.sent)
			c.CloseWrite()
			io.Copy(io.Discard, c)
			got := l.lines(3)
			if got[0] != test.want[0] || got[1] != test.want[1] {
				t.Errorf("log: %q, want %q and an end", got, test.want)
			}
			l.stop()
			if rec.bytes() != "" {
				t.Errorf("the server read %q", rec.bytes())
			}
		})
	}
}

func TestAFirstLineInPiecesIsWatchedToItsEnd(t *testing.T) {
	l := newLab(t, "shared.test:7000")
	l.named("shared.test", sharedAddr)
	rec := l.server(sharedAddr+":7000", func(c *net.TCPConn, rec *serverRecord) { io.Copy(io.MultiWriter(rec, c), c) })

	c := l.call(sharedAddr + ":7000")
	io.WriteString(c, "ping") // no line's end: carried as it is
	if got := make([]byte, 4); true {
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "ping" {
			t.Fatalf("echo: %q, %v", got, err)
		}
	}
	io.WriteString(c, " / HTTP/1.1\r\nHost: denied.test\r\n\r\n")
	io.Copy(io.Discard, c)
	l.wantLines("tcp shared.test:7000 allowed", "tcp shared.test:7000 refused (malformed)", "tcp shared.test:7000 ended (malformed)")
	if got := rec.bytes(); strings.Contains(got, "denied") {
		t.Errorf("the server read %q", got)
	}
}

func TestAFirstLineWithoutEndIsNotCarriedForEver(t *testing.T) {
	l := newLab(t, "shared.test")
	l.named("shared.test", sharedAddr)
	rec := l.server(sharedAddr+":80", recording)
	c := l.call(sharedAddr + ":80")
	io.WriteString(c, "QUERY /"+strings.Repeat("a", maxGreeting+1000))
	io.WriteString(c, " HTTP/1.1\r\nHost: denied.test\r\n\r\n")
	c.CloseWrite()
	io.Copy(io.Discard, c)
	l.lines(3)
	l.stop()
	if strings.Contains(rec.bytes(), "denied.test") {
		t.Error("the server read the Host")
	}
}

func TestRequestsThatOnlySomeServersTakeAreReadAsRequests(t *testing.T) {
	for _, sent := range []string{"GET http://denied.test/\r\n", " GET / HTTP/1.1\r\nHost: denied.test\r\n\r\n", "\t\r\n GET / HTTP/1.0\r\nHost: denied.test\r\n\r\n"} {
		l := newLab(t, "shared.test")
		l.named("shared.test", sharedAddr)
		rec := l.web(sharedAddr+":80", echoPath)
		c := l.call(sharedAddr + ":80")
		io.WriteString(c, sent)
		c.CloseWrite()
		io.Copy(io.Discard, c)
		if got := l.lines(1); !strings.Contains(got[0], " refused (") {
			t.Errorf("%q: %q", sent, got)
		}
		if rec.bytes() != "" {
			t.Errorf("%q: the server read %q", sent, rec.bytes())
		}
	}
}

func TestHalfClosePassesAsHalfCloseAndResetAsReset(t *testing.T) {
	body := make([]byte, 5<<20)
	rand.Read(body)
	l := newLab(t, "raw.test:7000", "raw.test:7001", "raw.test:7002", "raw.test:7003")
	l.named("raw.test", allowedAddr)
	l.server(allowedAddr+":7000", func(c *net.TCPConn, rec *serverRecord) {
		h := sha256.New()
		io.Copy(h, c) // to the client's end
		c.Write(h.Sum(nil))
		c.Write(body)
	})
	l.server(allowedAddr+":7001", func(c *net.TCPConn, rec *serverRecord) {
		io.WriteString(c, "first")
		c.CloseWrite()
		h := sha256.New()
		io.Copy(h, c)
	})
	l.server(allowedAddr+":7002", func(c *net.TCPConn, rec *serverRecord) {
		io.ReadFull(c, make([]byte, 4))
		c.SetLinger(0)
	})

	c := l.call(allowedAddr + ":7000")
	c.Write(body)
	c.CloseWrite()
	sum := sha256.Sum256(body)
	if got := readAll(t, c); got != string(sum[:])+string(body) {
		t.Errorf("after the client's half-close: %d bytes, want %d", len(got), len(sum)+len(body))
	}

	c = l.call(allowedAddr + ":7001")
	if got := readAll(t, c); got != "first" {
		t.Errorf("after the server's half-close: %q", got)
	}
	if _, err := c.Write(body); err != nil {
		t.Errorf("writing after the server's half-close: %v", err)
	}
	c.CloseWrite()

	c = l.call(allowedAddr + ":7002")
	io.WriteString(c, "ping")
	wantReset(t, c)
	l.server(allowedAddr+":7003", func(c *net.TCPConn, rec *serverRecord) { c.SetLinger(0) })
	wantReset(t, l.call(allowedAddr+":7003")) // before anybody has said a thing
	l.lines(8)
	l.mu.Lock()
	defer l.mu.Unlock()
	var out int64
	for _, r := range l.records {
		out += r.Out
	}
	if want := int64(2*len(body) + 4); out != want {
		t.Errorf("%d bytes out, want %d", out, want)
	}
}

func TestADeadAddressFallsBackToTheNamesOthers(t *testing.T) {
	l := newLab(t, "dual.test:7000")
	l.named("dual.test", "2001:db8::10", "2001:db8::11", allowedAddr)
	l.server(allowedAddr+":7000", echo)
	c := l.call("[2001:db8::10]:7000")
	io.WriteString(c, "ping")
	c.CloseWrite()
	if got := readAll(t, c); got != "ping" {
		t.Errorf("echo: %q", got)
	}
	l.wantLines("tcp dual.test:7000 allowed", "tcp dual.test:7000 ended")
}

func TestAFailureIsToldAsTCPTellsIt(t *testing.T) {
	l := newLab(t, "gone.test:7000", "gone.test")
	l.named("gone.test", allowedAddr)
	closed := listen(t)
	l.servers[addrPort(allowedAddr+":7000")] = closed.Addr().(*net.TCPAddr).AddrPort()
	l.servers[addrPort(allowedAddr+":80")] = closed.Addr().(*net.TCPAddr).AddrPort()
	closed.Close()
	late := l.call(allowedAddr + ":7000")
	io.WriteString(late, "x\n")
	wantReset(t, late)
	c := l.call(allowedAddr + ":80")
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: gone.test\r\nConnection: close\r\n\r\n")
	if got := readAll(t, c); !strings.HasPrefix(got, "HTTP/1.1 502 ") {
		t.Errorf("answer: %q", got)
	}
	l.wantLines("tcp gone.test:7000 failed (connection refused)", "http gone.test:80 failed (connection refused)")
}

func TestThisMachinesPortsAreCalledByNumberWhateverTheWayToThem(t *testing.T) {
	for sentence, test := range map[string]struct {
		to, really string
		want       []string
	}{
		"by the machine's name, on IPv4":         {"198.18.0.3:5432", "127.0.0.1:5432", []string{"port 5432 allowed", "port 5432 ended"}},
		"by the machine's name, on IPv6":         {"198.18.0.3:5432", "[::1]:5432", []string{"port 5432 allowed", "port 5432 ended"}},
		"by an address of an interface":          {ownAddr + ":5432", ownAddr + ":5432", []string{"port 5432 allowed", "port 5432 ended"}},
		"a port that isn't named":                {"198.18.0.3:22", "127.0.0.1:22", []string{"port 22 refused (this machine's port is not allowed)"}},
		"a port that isn't named, by an address": {ownAddr + ":22", ownAddr + ":22", []string{"port 22 refused (this machine's port is not allowed)"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t, "5432")
			rec := l.server(test.really, echo)
			if strings.HasPrefix(test.really, "[") { // nothing listens at 127.0.0.1
				gone := listen(t)
				l.servers[addrPort("127.0.0.1:5432")] = gone.Addr().(*net.TCPAddr).AddrPort()
				gone.Close()
			}
			c := l.call(test.to)
			io.WriteString(c, "ping")
			c.CloseWrite()
			got, _ := io.ReadAll(c)
			if allowed := len(test.want) == 2; (string(got) == "ping") != allowed || (rec.conns.Load() == 1) != allowed {
				t.Errorf("echo: %q over %d connections", got, rec.conns.Load())
			}
			l.wantLines(test.want...)
		})
	}
}
