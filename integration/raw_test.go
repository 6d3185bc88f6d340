package integration

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lnk/integration/internet"
)

// onMachine runs a web server on a port of the machine's, at every address it has, and counts its requests.
func (s *stage) onMachine(port uint16) *atomic.Int64 {
	s.t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		s.t.Fatal(err)
	}
	var n atomic.Int64
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		fmt.Fprintln(w, "the machine's own secret")
	})}
	go srv.Serve(l)
	s.t.Cleanup(func() { srv.Close() })
	return &n
}

func TestServerSpeaksFirst(t *testing.T) {
	each(t, nil, func(s *stage) {
		for port, line := range internet.Banners {
			r := s.run("-a banner.test:*", "nc", "-N", "banner.test", fmt.Sprint(port))
			s.ok(r, strings.TrimSpace(line))
			s.wantLines(1, fmt.Sprintf("tcp banner.test:%d allowed", port), fmt.Sprintf("tcp banner.test:%d ended", port))
			if r.Took > time.Second {
				s.t.Errorf("port %d: the greeting took %s", port, r.Took)
			}
		}
		r := s.run("-a banner.test:25", "nc", "-w", "5", "banner.test", "3306")
		s.promptly(r)
		if strings.Contains(r.Stdout, "8.0.0") {
			s.t.Errorf("a refused port answers: %v", r)
		}
		s.wantLines(1, "tcp banner.test:3306 refused")
	})
}

func TestHalfClose(t *testing.T) {
	each(t, nil, func(s *stage) {
		r := s.run("-a echo.test:7000", "sh", "-c",
			"head -c 1000000 /dev/urandom >/tmp/sent && sha256sum </tmp/sent && nc -N echo.test 7000 </tmp/sent | { read -r n; echo $n; sha256sum; }; rm /tmp/sent")
		lines := strings.Split(strings.ReplaceAll(r.Stdout, "  -", ""), "\n")
		if r.Status != 0 || len(lines) < 3 || lines[1] != "1000000 "+lines[0] || lines[2] != internet.StreamSum(internet.SumAfter) {
			s.t.Errorf("not what was sent came, or not what came was sent: %v\nwant the sum %s", r, internet.StreamSum(internet.SumAfter))
		}
		call := s.settled("echo")[0]
		for _, rec := range s.log() {
			if rec.Outcome == "ended" && (rec.Out != call.In || rec.In != call.Out || rec.Out != 1000000) {
				s.t.Errorf("the log counts %d out and %d in; the server got %d and sent %d", rec.Out, rec.In, call.In, call.Out)
			}
		}
	})
}

// resetSeen prints how a connection on which ten bytes were sent ends.
const resetSeen = `
import socket
s = socket.create_connection(("echo.test", 7001), 5)
s.sendall(b"0123456789")
try:
    print("end", s.recv(10))
except ConnectionResetError:
    print("reset")
`

func TestResetIsAReset(t *testing.T) {
	each(t, nil, func(s *stage) {
		s.ok(s.run("-a echo.test:7001", "/usr/bin/python3", "-c", resetSeen), "reset")
	})
}

func TestRefusedRawCall(t *testing.T) {
	each(t, nil, func(s *stage) {
		for _, to := range []string{"echo.test 7", "203.0.113.7 7", "2001:db8::7 7"} {
			r := s.run("-a allowed.test", "sh", "-c", "echo hello | nc -w 5 -N "+to)
			s.promptly(r)
			if strings.Contains(r.Stdout, "hello") {
				s.t.Errorf("%s answers: %v", to, r)
			}
		}
		s.wantLines(1, "tcp echo.test:7 refused", "tcp 203.0.113.7:7 refused", "tcp [2001:db8::7]:7 refused")
		s.unreached("echo")
	})
}

func TestAddressesAndNetworksByThemselves(t *testing.T) {
	each(t, nil, func(s *stage) {
		for _, c := range []struct{ allow, call, want string }{
			{"203.0.113.7:7", "203.0.113.7 7", "hello"},
			{"203.0.113.0/28:7", "203.0.113.7 7", "hello"},
			{"[2001:db8::7]:7", "2001:db8::7 7", "hello"},
			{"[2001:db8::/64]:7", "2001:db8::7 7", "hello"},
			{"echo.test:7", "203.0.113.7 7", ""}, // a name doesn't cover a bare address
			{"203.0.113.8/29:7", "203.0.113.7 7", ""},
		} {
			r := s.run("-a "+c.allow, "sh", "-c", "echo hello | nc -w 5 -N "+c.call)
			if strings.TrimSpace(r.Stdout) != c.want {
				s.t.Errorf("-a %s, called %s: want %q, got %v", c.allow, c.call, c.want, r)
			}
		}
	})
}

// datagram prints how sending a datagram ends.
const datagram = `
import socket, sys, time
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
s = socket.socket(family, socket.SOCK_DGRAM)
s.settimeout(5)
start = time.time()
try:
    s.connect((sys.argv[1], int(sys.argv[2])))
    s.send(b"hello")
    s.recv(10)
    print("answered")
except TimeoutError:
    print("nothing came")
except OSError as e:
    print("refused at once" if time.time() - start < 1 else "refused late")
`

func TestUDPIsRefusedAtOnce(t *testing.T) {
	each(t, nil, func(s *stage) {
		for _, to := range [][]string{{"203.0.113.10", "443"}, {"203.0.113.10", "9999"}, {"2001:db8::10", "443"}, {"169.254.169.254", "123"}} {
			r := s.run("-a allowed.test:* -a 203.0.113.10:* -a [2001:db8::10]:*", append([]string{"/usr/bin/python3", "-c", datagram}, to...)...)
			s.ok(r, "refused at once")
		}
	})
}

func TestNoPing(t *testing.T) {
	each(t, nil, func(s *stage) {
		r := s.run("--network open", "/usr/bin/python3", "-c", `
import socket
try:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    s.settimeout(5)
    s.sendto(bytes([8, 0, 0, 0, 0, 1, 0, 1]), ("203.0.113.10", 1))
    s.recv(100)
    print("answered")
except TimeoutError:
    print("nothing came")
except OSError as e:
    print("refused")
`)
		s.ok(r, "refused")
	})
}
