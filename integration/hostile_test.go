package integration

import (
	"strings"
	"testing"
)

// hostileNames asks for names that would forge, hide or repaint a line, by every way that carries one: a ClientHello, a Host, a CONNECT, SOCKS and
// a lookup.
const hostileNames = `
import socket, struct, sys
forged = b'x\n2026-01-01T00:00:00.000Z it connect evil.test:443 allowed'
texts = [forged, b'a"b', b'a\\b', b'\x1b[2Jwiped', b'a\rb', b'a\x00b', '\u202eevil'.encode(), '\u2028line'.encode(), b'\xff\xfe', b'a b (stopped)', b'y' * 5000]

def hello(name):
    sni = struct.pack('>HBH', len(name) + 3, 0, len(name)) + name
    ext = struct.pack('>HH', 0, len(sni)) + sni + bytes.fromhex('000a00040002001d') + bytes.fromhex('000d000400020403') + bytes.fromhex('002b0003020304')
    body = b'\x03\x03' + b'r' * 32 + b'\x00' + bytes.fromhex('00021301') + b'\x01\x00' + struct.pack('>H', len(ext)) + ext
    msg = b'\x01' + struct.pack('>I', len(body))[1:] + body
    return b'\x16\x03\x01' + struct.pack('>H', len(msg)) + msg

def call(host, port, sent):
    s = socket.create_connection((host, port), 5)
    s.settimeout(5)
    try:
        s.sendall(sent)
        s.shutdown(socket.SHUT_WR)
        while s.recv(65536): pass
    except OSError: pass

def lookup(name):
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.settimeout(5)
    label = name[:60]
    u.sendto(b'\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00' + bytes([len(label)]) + label + b'\x04test\x00\x00\x01\x00\x01', ('198.18.0.2', 53))
    u.recv(4096)

kind = sys.argv[1]
for t in texts:
    if kind == 'sni': call('big.test', 443, hello(t))
    if kind == 'host': call('big.test', 80, b'GET / HTTP/1.1\r\nHost: ' + t + b'\r\n\r\n')
    if kind == 'connect': call('proxy.lnk.internal', 3128, b'CONNECT ' + t + b':443 HTTP/1.1\r\n\r\n')
    if kind == 'socks': call('proxy.lnk.internal', 3128, b'\x05\x01\x00\x05\x01\x00\x03' + bytes([min(len(t), 255)]) + t[:255] + b'\x01\xbb')
    if kind == 'dns': lookup(t)
print('all were asked')
`

// TestHostileNamesStayInTheirLine asks for each and looks at the log's bytes: nothing but printable text and the mark of a cut, and no line that says evil.test was allowed.
func TestHostileNamesStayInTheirLine(t *testing.T) {
	each(t, nil, func(s *stage) {
		for _, kind := range []string{"sni", "host", "connect", "socks", "dns"} {
			s.ok(s.lnk("sandbox", "run", "-q", "-n", "it-"+kind, "-a", "big.test", "--", "/usr/bin/python3", "-c", hostileNames, kind), "all were asked")
		}
		s.ok(s.lnk("sandbox", "run", "-q", "-n", "it-argv", "-a", "big.test", "--", "bash", "-c", `exec -a $'x\n{"outcome":"allowed"}' sh -c 'curl -sS http://big.test/'`), "hello")
		text := s.logText()
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '…' && (r < ' ' || r > '~') }); i >= 0 {
			s.t.Errorf("the log holds %q", text[max(0, i-80):min(len(text), i+20)])
		}
		for _, r := range s.log() { // each line parses
			if r.Outcome == "allowed" && strings.Contains(r.Target.String(), "evil") {
				s.t.Errorf("a forged line: %v", r)
			}
			if len(r.Target.String()) > 300 {
				s.t.Errorf("a target of %d characters", len(r.Target.String()))
			}
		}
		if shown := s.lnk("sandbox", "log"); strings.ContainsAny(shown.Stdout, "\x1b\r\x00") || strings.Count(shown.Stdout, "\n") != strings.Count(text, "\n") {
			s.t.Errorf("the viewer shows control characters or another number of lines: %q", shown.Stdout)
		}
	})
}
