package proxy

import (
	"bytes"
	"crypto/tls"
	"net"
	"testing"

	"pgregory.net/rapid"
)

// FuzzClassify checks that first bytes, once they are told, stay what they are however many follow, and that nothing which
// begins with a request's first line passes as raw.
func FuzzClassify(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\n", "\r\n\r\nGET / HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "get / http/1.0\n", "EHLO x\r\n", "SSH-2.0-x\r\n",
		"\x16\x03\x01\x00\x05", "\x16\x02", "\x00\x00\x00\x08\x04\xd2\x16\x2f", "PROXY TCP4 ", "\r\n\r\n\x00\r\nQUIT\n", "*1\r\n$4\r\nPING\r\n", "ping",
	} {
		f.Add([]byte(s), []byte("more\r\n"))
	}
	f.Fuzz(func(t *testing.T, first, more []byte) {
		got := classify(first)
		all := append(bytes.Clone(first), more...)
		if got != unread && got != rawLine && classify(all) != got {
			t.Errorf("%q is %d, and with %q after it %d", first, got, more, classify(all))
		}
	})
}

// FuzzClientHello checks that no bytes make the reading of a ClientHello panic, keep less than what it read, or hold more than the cap.
func FuzzClientHello(f *testing.F) {
	hello := helloBytes(&testing.T{}, &tls.Config{ServerName: "allowed.test"})
	f.Add(hello)
	f.Add(reframed(hello, 3))
	f.Add(hello[:20])
	f.Fuzz(func(t *testing.T, sent []byte) {
		if len(sent) == 0 || classify(sent) != tlsHello {
			return
		}
		client, server := net.Pipe()
		server.Close()
		g := readHello(t.Context(), client, greeting{bytes: bytes.Clone(sent)})
		if len(g.bytes) > maxGreeting+len(sent) || !bytes.HasPrefix(g.bytes, sent) {
			t.Errorf("%d bytes became %d", len(sent), len(g.bytes))
		}
	})
}

// A request's first line is told as one, whatever a server lets pass in it.
func TestEveryRequestLineIsToldAsHTTP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lead := rapid.SampledFrom([]string{"", "\r\n", "\n", "\r\n\r\n"}).Draw(t, "lead")
		method := rapid.StringMatching(`[A-Za-z!#$%&'*+.^_|~-]{1,24}`).Draw(t, "method")
		space := rapid.SampledFrom([]string{" ", "  ", "\t", " \t "}).Draw(t, "space")
		target := rapid.StringMatching(`[!-~]{1,40}`).Draw(t, "target")
		version := rapid.SampledFrom([]string{"HTTP/1.1", "HTTP/1.0", "http/1.1", "HTTP/2.0", "HTTP/0.9"}).Draw(t, "version")
		end := rapid.SampledFrom([]string{"\r\n", "\n"}).Draw(t, "end")
		line := lead + method + space + target + space + version + end
		got := classify([]byte(line))
		if got != httpText && got != malformed {
			t.Fatalf("%q is told as %d", line, got)
		}
		for i := range len(line) { // and no part of it is carried unwatched
			if p := classify([]byte(line[:i])); p != unread && p != rawLine && p != httpText && p != malformed {
				t.Fatalf("%q is told as %d", line[:i], p)
			}
		}
	})
}
