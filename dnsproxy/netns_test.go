package dnsproxy

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

const inRoom = "DNSPROXY_TEST_IN_ROOM"

// TestInARoom runs what follows in a network namespace of its own, where whatever goes to port 53 is turned to the server, as in a
// sandbox's room.
func TestInARoom(t *testing.T) {
	if os.Getenv(inRoom) != "" {
		room(t)
		t.Run("answers come from the address that was asked", answersComeFromTheAddressAsked)
		t.Run("many at once lose none", manyInARoom)
		t.Run("it goes on when there are descriptors again", withoutDescriptors)
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestInARoom$", "-test.v")
	c.Env = append(os.Environ(), inRoom+"=1")
	c.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		c.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// room sets the namespace up.
func room(t *testing.T) {
	run(t, "", "ip", "link", "set", "lo", "up")
	run(t, "", "ip", "link", "add", "eth0", "type", "veth", "peer", "name", "far0")
	run(t, "", "ip", "link", "set", "far0", "up")
	run(t, "", "ip", "link", "set", "eth0", "up")
	run(t, "", "ip", "addr", "add", "198.18.0.1/32", "dev", "eth0")
	run(t, "", "ip", "addr", "add", "fd6c:6e6b::1/128", "dev", "eth0", "nodad")
	run(t, "", "ip", "addr", "add", "fe80::7/64", "dev", "eth0", "nodad")
	run(t, "", "ip", "route", "add", "default", "dev", "eth0")
	run(t, "", "ip", "-6", "route", "add", "default", "dev", "eth0")
	run(t, `table inet t {
	chain out {
		type nat hook output priority -100
		meta l4proto { tcp, udp } th dport 53 dnat ip to 198.18.0.1:5353
		meta l4proto { tcp, udp } th dport 53 dnat ip6 to [fd6c:6e6b::1]:5353
	}
}
`, "nft", "-f", "-")
}

func run(t *testing.T, stdin, tool string, args ...string) {
	t.Helper()
	c := exec.Command(tool, args...)
	c.Stdin = strings.NewReader(stdin)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", tool, strings.Join(args, " "), err, out)
	}
}

// roomRig listens where a room's listeners do: on the room's own two addresses.
func roomRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, func(_ int, q asked) *dns.Msg {
		m := new(dns.Msg).SetReply(q.msg)
		m.Answer = append(m.Answer, mustRR(q.Name+" 60 IN A 203.0.113.1"))
		return m
	}, "*.test")
	var udp []net.PacketConn
	var tcp []net.Listener
	for _, at := range []string{"198.18.0.1:5353", "[fd6c:6e6b::1]:5353"} {
		pc, err := net.ListenPacket("udp", at)
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		udp, tcp = append(udp, pc), append(tcp, l)
	}
	r.serveOn(t, udp, tcp)
	return r
}

func answersComeFromTheAddressAsked(t *testing.T) {
	roomRig(t)
	servers := []string{"9.9.9.9:53", "198.18.0.2:53", "127.0.0.53:53", "127.0.0.1:53", "198.18.0.1:53", "169.254.169.254:53",
		"[2001:4860:4860::8888]:53", "[::1]:53", "[fd6c:6e6b::1]:53", "[fe80::99%eth0]:53"}
	for i, server := range servers {
		for _, network := range []string{"udp", "tcp"} {
			c, err := net.Dial(network, server) // connected: an answer from anywhere else doesn't arrive
			if err != nil {
				t.Errorf("%s %s: %v", network, server, err)
				continue
			}
			for _, n := range []string{fmt.Sprintf("n%d.test", i), "again.test"} {
				d := dns.Conn{Conn: c}
				d.SetDeadline(time.Now().Add(5 * time.Second))
				d.WriteMsg(question1(n, dns.TypeA))
				if m, err := d.ReadMsg(); err != nil || said(m) != "NOERROR, A 203.0.113.1" {
					t.Errorf("%s %s: %v, %v", network, server, m, err)
				}
			}
			c.Close()
		}
	}
}

func manyInARoom(t *testing.T) {
	roomRig(t)
	var all sync.WaitGroup
	for i := range 2000 {
		all.Go(func() {
			server := [...]string{"9.9.9.9:53", "[2001:4860:4860::8888]:53"}[i%2]
			c := dns.Client{Timeout: 30 * time.Second}
			if m, _, err := c.Exchange(question1(fmt.Sprintf("n%d.test", i), dns.TypeA), server); err != nil || said(m) != "NOERROR, A 203.0.113.1" {
				t.Errorf("%d: %v, %v", i, m, err)
			}
		})
	}
	all.Wait()
}

func withoutDescriptors(t *testing.T) {
	r := roomRig(t)
	c, err := net.Dial("udp", "9.9.9.9:53")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	stream, err := net.Dial("tcp", "9.9.9.9:53")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := unix.Rlimit{Cur: 3, Max: limit.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	for _, network := range []net.Conn{c, stream} {
		d := dns.Conn{Conn: network}
		d.SetDeadline(time.Now().Add(30 * time.Second))
		d.WriteMsg(question1("late.test", dns.TypeA))
	}
	waitFor(t, func() bool { return len(r.Resolver.slots) > 0 })
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for _, network := range []net.Conn{c, stream} {
		d := dns.Conn{Conn: network}
		if m, err := d.ReadMsg(); err != nil || said(m) != "NOERROR, A 203.0.113.1" {
			t.Errorf("%v, %v", m, err)
		}
	}
}
