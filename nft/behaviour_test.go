package nft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// soon is much more than what happens at once takes, and less than the first retransmission of a SYN would.
const soon = 900 * time.Millisecond

// serve is the wire and the DNS server of a room: whatever they get, they answer with what it was.
func serve(t *testing.T, p Ports) {
	t.Helper()
	for _, l := range []struct {
		addr netip.Addr
		port uint16
		is   string
	}{{Addr4, p.Wire4, "wire"}, {Addr6, p.Wire6, "wire"}, {Addr4, p.DNS4, "dns"}, {Addr6, p.DNS6, "dns"}} {
		at := netip.AddrPortFrom(l.addr, l.port).String()
		listener, err := net.Listen("tcp", at)
		must(t, err)
		t.Cleanup(func() { listener.Close() })
		go accept4ever(listener, l.is)
		if l.is == "dns" {
			packets, err := net.ListenPacket("udp", at)
			must(t, err)
			t.Cleanup(func() { packets.Close() })
			go answer4ever(packets)
		}
	}
}

func accept4ever(l net.Listener, is string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		to, err := original(c.(*net.TCPConn))
		fmt.Fprintf(c, "%s %v %v\n", is, to, err)
		c.Close()
	}
}

func answer4ever(p net.PacketConn) {
	buf := make([]byte, 512)
	for {
		n, from, err := p.ReadFrom(buf)
		if err != nil {
			return
		}
		p.WriteTo(append([]byte("dns "), buf[:n]...), from)
	}
}

// original reads SO_ORIGINAL_DST, 80 in both families.
func original(c *net.TCPConn) (netip.AddrPort, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return netip.AddrPort{}, err
	}
	var to netip.AddrPort
	var sockopt error
	err = raw.Control(func(fd uintptr) {
		if c.LocalAddr().(*net.TCPAddr).IP.To4() != nil {
			var m *unix.IPv6Mreq
			if m, sockopt = unix.GetsockoptIPv6Mreq(int(fd), unix.SOL_IP, 80); sockopt == nil {
				to = netip.AddrPortFrom(netip.AddrFrom4([4]byte(m.Multiaddr[4:8])), binary.BigEndian.Uint16(m.Multiaddr[2:4]))
			}
			return
		}
		var m *unix.IPv6MTUInfo
		if m, sockopt = unix.GetsockoptIPv6MTUInfo(int(fd), unix.SOL_IPV6, 80); sockopt == nil {
			port := binary.NativeEndian.AppendUint16(nil, m.Addr.Port)
			to = netip.AddrPortFrom(netip.AddrFrom16(m.Addr.Addr), binary.BigEndian.Uint16(port))
		}
	})
	return to, errors.Join(err, sockopt)
}

// bound dials from a socket that is bound to an interface; empty is none.
func bound(device string) *net.Dialer {
	return &net.Dialer{Timeout: 5 * time.Second, Control: func(_, _ string, c syscall.RawConn) error {
		if device == "" {
			return nil
		}
		var err error
		c.Control(func(fd uintptr) { err = unix.BindToDevice(int(fd), device) })
		return err
	}}
}

func TestEveryConnectionReachesTheWire(t *testing.T) {
	inside(t, func(t *testing.T) {
		links(t)
		must(t, Install(ports))
		serve(t, ports)
		for name, c := range map[string]struct{ to, device, original string }{
			"IPv4, TLS's port":              {to: "203.0.113.10:443"},
			"IPv4, a high port":             {to: "203.0.113.10:65535"},
			"IPv4, the proxy's own name":    {to: "198.18.0.4:3128"},
			"IPv4, a refusal address":       {to: "198.18.1.0:443"},
			"IPv4, the machine":             {to: "198.18.0.3:5432"},
			"IPv4, the wire's own port":     {to: "203.0.113.10:1"},
			"IPv4, metadata":                {to: "169.254.169.254:80"},
			"IPv4, class E":                 {to: "240.0.0.1:80"},
			"IPv4, bound to the link":       {to: "203.0.113.10:443", device: link},
			"IPv6, TLS's port":              {to: "[2001:db8::10]:443"},
			"IPv6, a refusal address":       {to: "[2001:2:0:1::7]:22"},
			"IPv6, unique local":            {to: "[fd00:ec2::254]:80"},
			"IPv6, NAT64":                   {to: "[64:ff9b::a9fe:a9fe]:80"},
			"IPv6, bound to the link":       {to: "[2001:db8::10]:443", device: link},
			"IPv6, a link-local neighbour":  {to: "[fe80::1%eth0]:443", original: "[fe80::1]:443"},
			"IPv4 written as IPv6 (mapped)": {to: "[::ffff:203.0.113.10]:443", original: "203.0.113.10:443"},
		} {
			t.Run(name, func(t *testing.T) {
				want := c.original
				if want == "" {
					want = c.to
				}
				if got := call(t, c.to, c.device); got != "wire "+want+" <nil>\n" {
					t.Errorf("the wire says %q", got)
				}
			})
		}
	})
}

// call connects and returns what the other side says.
func call(t *testing.T, to, device string) string {
	t.Helper()
	start := time.Now()
	conn, err := bound(device).Dial("tcp", to)
	if err != nil {
		t.Fatalf("after %v: %v", time.Since(start), err)
	}
	defer conn.Close()
	buf := make([]byte, 200)
	n, err := conn.Read(buf)
	must(t, err)
	return string(buf[:n])
}

func TestConnectionsFromOneSourcePortStayApart(t *testing.T) {
	inside(t, func(t *testing.T) {
		links(t)
		must(t, Install(ports))
		serve(t, ports)
		for _, from := range []string{"198.18.0.1:40000", "[fd6c:6e6b::1]:40000"} {
			source := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from))
			destinations := []string{"203.0.113.10:443", "203.0.113.11:443", "203.0.113.10:80"}
			if source.IP.To4() == nil {
				destinations = []string{"[2001:db8::10]:443", "[2001:db8::11]:443", "[2001:db8::10]:80"}
			}
			for _, to := range destinations {
				dialer := net.Dialer{LocalAddr: source, Timeout: 5 * time.Second, Control: reuse}
				conn, err := dialer.Dial("tcp", to)
				must(t, err)
				defer conn.Close() // not before the others are made
				buf := make([]byte, 200)
				n, err := conn.Read(buf)
				must(t, err)
				if got := string(buf[:n]); got != "wire "+to+" <nil>\n" {
					t.Errorf("to %s: the wire says %q", to, got)
				}
			}
		}
	})
}

func reuse(_, _ string, c syscall.RawConn) error {
	var err error
	c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) })
	return err
}

func TestEveryQueryReachesTheNameServer(t *testing.T) {
	inside(t, func(t *testing.T) {
		links(t)
		must(t, Install(ports))
		serve(t, ports)
		for name, c := range map[string]struct{ to, device string }{
			"IPv4, the room's name server":     {to: "198.18.0.2:53"},
			"IPv4, a public one":               {to: "9.9.9.9:53"},
			"IPv4, loopback":                   {to: "127.0.0.1:53"},
			"IPv4, systemd-resolved's":         {to: "127.0.0.53:53"},
			"IPv4, the room's own address":     {to: "198.18.0.1:53"},
			"IPv4, metadata":                   {to: "169.254.169.254:53"},
			"IPv4, bound to the link":          {to: "9.9.9.9:53", device: link},
			"IPv6, a public one":               {to: "[2001:4860:4860::8888]:53"},
			"IPv6, loopback":                   {to: "[::1]:53"},
			"IPv6, the room's own address":     {to: "[fd6c:6e6b::1]:53"},
			"IPv6, bound to the link":          {to: "[2001:4860:4860::8888]:53", device: link},
			"IPv6, a link-local scope address": {to: "[fe80::1%eth0]:53"},
		} {
			t.Run(name, func(t *testing.T) {
				if got := ask(t, c.to, c.device); got != "dns who" {
					t.Errorf("over UDP: %q", got)
				}
				if got := call(t, c.to, c.device); !strings.HasPrefix(got, "dns ") {
					t.Errorf("over TCP: %q", got)
				}
			})
		}
	})
}

// ask sends a datagram from a connected socket: an answer from any other address wouldn't be received.
func ask(t *testing.T, to, device string) string {
	t.Helper()
	conn, err := bound(device).Dial("udp", to)
	must(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("who"))
	must(t, err)
	must(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	buf := make([]byte, 200)
	n, err := conn.Read(buf)
	must(t, err)
	return string(buf[:n])
}

func TestTheRoomsOwnIsLeftAlone(t *testing.T) {
	inside(t, func(t *testing.T) {
		links(t)
		must(t, Install(ports))
		serve(t, ports)
		for _, addr := range []string{"127.0.0.1:8080", "127.9.9.9:8080", "198.18.0.1:8080", "[::1]:8080", "[fd6c:6e6b::1]:8080"} {
			t.Run(addr, func(t *testing.T) {
				start := time.Now()
				if _, err := net.Dial("tcp", addr); !errors.Is(err, unix.ECONNREFUSED) || time.Since(start) > soon {
					t.Errorf("nobody there: %v after %v", err, time.Since(start))
				}
				l, err := net.Listen("tcp", addr)
				must(t, err)
				defer l.Close()
				go accept4ever(l, "own")
				if got := call(t, addr, ""); !strings.HasPrefix(got, "own ") {
					t.Errorf("an own server: %q", got)
				}
				p, err := net.ListenPacket("udp", addr)
				must(t, err)
				defer p.Close()
				go answer4ever(p)
				if got := ask(t, addr, ""); got != "dns who" {
					t.Errorf("an own datagram: %q", got)
				}
			})
		}
	})
}

func TestAllElseIsRejectedAtOnce(t *testing.T) {
	inside(t, func(t *testing.T) {
		links(t)
		must(t, Install(ports))
		serve(t, ports)
		for name, send := range map[string]func() error{
			"UDP, IPv4": udp("203.0.113.10:443", ""),
			"UDP, IPv4, the name server's other port": udp("198.18.0.2:54", ""),
			"UDP, IPv4, multicast":                    udp("224.0.0.251:5353", ""),
			"UDP, IPv4, bound to the link":            udp("203.0.113.10:443", link),
			"UDP, IPv6":                               udp("[2001:db8::10]:443", ""),
			"UDP, IPv6, multicast":                    udp("[ff02::fb%eth0]:5353", ""),
			"UDP, IPv6, link-local":                   udp("[fe80::1%eth0]:443", ""),
			"UDP, IPv6, bound to the link":            udp("[2001:db8::10]:443", link),
			"UDP-Lite, IPv4":                          packet(unix.AF_INET, unix.IPPROTO_UDPLITE, "203.0.113.10"),
			"ICMP echo, IPv4":                         packet(unix.AF_INET, unix.IPPROTO_ICMP, "203.0.113.10"),
			"SCTP, IPv4":                              packet(unix.AF_INET, unix.IPPROTO_SCTP, "203.0.113.10"),
			"DCCP, IPv4":                              packet(unix.AF_INET, unix.IPPROTO_DCCP, "203.0.113.10"),
			"GRE, IPv4":                               packet(unix.AF_INET, unix.IPPROTO_GRE, "203.0.113.10"),
			"an unassigned protocol, IPv4":            packet(unix.AF_INET, 253, "203.0.113.10"),
			"UDP-Lite, IPv6":                          packet(unix.AF_INET6, unix.IPPROTO_UDPLITE, "2001:db8::10"),
			"ICMPv6 echo, IPv6":                       packet(unix.AF_INET6, unix.IPPROTO_ICMPV6, "2001:db8::10"),
			"SCTP, IPv6":                              packet(unix.AF_INET6, unix.IPPROTO_SCTP, "2001:db8::10"),
			"an unassigned protocol, IPv6":            packet(unix.AF_INET6, 253, "2001:db8::10"),
		} {
			t.Run(name, func(t *testing.T) {
				before, start := rejected(t), time.Now()
				err := send()
				if !errors.Is(err, unix.EPERM) || time.Since(start) > soon {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				if n := rejected(t) - before; n != 1 {
					t.Errorf("it is counted %d times", n)
				}
			})
		}
	})
}

func udp(to, device string) func() error {
	return func() error {
		conn, err := bound(device).Dial("udp", to)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Write([]byte("hello"))
		return err
	}
}

// packet sends a packet of any protocol from a raw socket, the first octets being an echo request's.
func packet(domain, protocol int, to string) func() error {
	return func() error {
		fd, err := unix.Socket(domain, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		addr := netip.MustParseAddr(to)
		data := make([]byte, 64)
		if data[0] = 8; addr.Is6() {
			data[0] = 128
		}
		if addr.Is4() {
			return unix.Sendto(fd, data, 0, &unix.SockaddrInet4{Addr: addr.As4()})
		}
		return unix.Sendto(fd, data, 0, &unix.SockaddrInet6{Addr: addr.As16()})
	}
}

// rejected reads the counter of the last rule of others.
func rejected(t *testing.T) int {
	t.Helper()
	for _, line := range strings.Split(runNft(t, "list", "chain", "inet", "lnk", "others"), "\n") {
		var n, octets int
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "counter packets %d bytes %d reject with icmpx", &n, &octets); err == nil {
			return n
		}
	}
	t.Fatal("no such counter")
	return 0
}

func TestATCPConnectionThatCantBeTakenIsResetAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		to, device string
		ports      Ports
	}{
		"IPv4, bound to lo":                   {"203.0.113.10:443", "lo", ports},
		"IPv6, bound to lo":                   {"[2001:db8::10]:443", "lo", ports},
		"IPv6, bound to the far end":          {"[2001:db8::10]:443", far, ports},
		"IPv4, no wire of that family":        {"203.0.113.10:443", "", Ports{Wire6: 1, DNS6: 53}},
		"IPv6, no wire of that family":        {"[2001:db8::10]:443", "", Ports{Wire4: 1, DNS4: 53}},
		"IPv4, no name server of that family": {"9.9.9.9:53", "", Ports{Wire6: 1, DNS6: 53}},
		"IPv4, the zero value":                {"203.0.113.10:443", "", Ports{}},
	} {
		t.Run(name, func(t *testing.T) {
			inside(t, func(t *testing.T) {
				links(t)
				must(t, Install(c.ports))
				start := time.Now()
				_, err := bound(c.device).Dial("tcp", c.to)
				if !errors.Is(err, unix.ECONNREFUSED) && !errors.Is(err, unix.ENETUNREACH) || time.Since(start) > soon {
					t.Errorf("%v after %v", err, time.Since(start))
				}
			})
		})
	}
}

func TestWhatIsWrittenToTheLinkArrivesNowhere(t *testing.T) {
	inside(t, func(t *testing.T) {
		links(t)
		must(t, Install(ports))
		heard, err := net.ListenPacket("udp", "198.18.0.1:7777")
		must(t, err)
		defer heard.Close()
		must(t, writeFrame(t, link, "198.18.0.1", 7777))
		if n := counted(t, "arrivals"); n == 0 {
			t.Error("the frame isn't counted as dropped on arrival")
		}
		must(t, heard.SetReadDeadline(time.Now()))
		if _, _, err := heard.ReadFrom(make([]byte, 9)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it arrived: %v", err)
		}
	})
}

// counted reads the first counter of a chain.
func counted(t *testing.T, chain string) int {
	t.Helper()
	_, rest, ok := strings.Cut(runNft(t, "list", "chain", "inet", "lnk", chain), "counter packets ")
	if !ok {
		t.Fatalf("chain %s has no counter", chain)
	}
	var n int
	_, err := fmt.Sscan(rest, &n)
	must(t, err)
	return n
}

func TestFlushedRulesLeaveNoNetwork(t *testing.T) {
	inside(t, func(t *testing.T) {
		links(t)
		must(t, Install(ports))
		serve(t, ports)
		runNft(t, "flush", "ruleset")
		for _, to := range []string{"203.0.113.10:443", "[2001:db8::10]:443"} {
			dialer := net.Dialer{Timeout: 300 * time.Millisecond}
			if conn, err := dialer.Dial("tcp", to); err == nil {
				conn.Close()
				t.Errorf("%s answers", to)
			}
		}
	})
}
