package netns

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTheRoomHoldsOneLinkThatLeadsNowhere(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		out := w.run(t, w.plan(`ip -o addr; ip -o route; ip -o -6 route; echo; ls /sys/class/net; cat /sys/class/net/eth0/operstate`)).succeed(t)
		for _, want := range []string{
			`(?m)^\d+: eth0 +inet 198\.18\.0\.1/32 `,
			`(?m)^\d+: eth0 +inet6 fd6c:6e6b::1/128 scope global nodad`,
			`(?m)^1: lo +inet 127\.0\.0\.1/8 `,
			`(?m)^1: lo +inet6 ::1/128 `,
			`(?m)^default via 198\.18\.0\.2 dev eth0 onlink`,
			`(?m)^default via fd6c:6e6b::2 dev eth0 .*onlink`,
			`(?m)^eth0\nfar0\nlo\nup$`,
		} {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("no %s in\n%s", want, out)
			}
		}
		if strings.Contains(out, "fe80::") {
			t.Errorf("there is a link-local address:\n%s", out)
		}
	})
}

func TestTheRoomsFilesAndProcesses(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		out := w.run(t, w.plan(`cat /etc/resolv.conf /etc/hosts; ls -d /proc/[0-9]*; cat /proc/1/comm`)).succeed(t)
		want := "nameserver 198.18.0.2\n127.0.0.1 localhost\n::1 localhost\n/proc/1\n"
		if !strings.HasPrefix(out, want) {
			t.Errorf("got\n%s\nwant first\n%s", out, want)
		}
		if !strings.HasSuffix(out, "\nlnk-room\n") {
			t.Errorf("init's name isn't there:\n%s", out)
		}
		if n := strings.Count(out, "/proc/"); n != 2 { // init, and the shell or what it executes
			t.Errorf("%d processes are seen:\n%s", n, out)
		}
	})
}

func TestNamespacesAreItsOwn(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		kinds := []string{"net", "mnt", "pid", "ipc", "uts"}
		if w.launcher != 0 {
			kinds = append(kinds, "user")
		}
		outside := map[string]string{}
		for _, kind := range kinds {
			link, err := os.Readlink("/proc/self/ns/" + kind)
			must(t, err)
			outside[kind] = link
		}
		out := w.run(t, w.plan(`for k in `+strings.Join(kinds, " ")+`; do readlink /proc/self/ns/$k; done`)).succeed(t)
		for i, link := range lines(out) {
			if link == outside[kinds[i]] {
				t.Errorf("the %s namespace is the machine's", kinds[i])
			}
		}
		for _, kind := range kinds {
			if link, err := os.Readlink("/proc/self/ns/" + kind); err != nil || link != outside[kind] {
				t.Errorf("the launcher's %s namespace has changed: %s, %v", kind, link, err)
			}
		}
	})
}

func TestCallsArriveWithTheirDestination(t *testing.T) {
	cases := []struct{ network, to, device, want string }{
		{"tcp", "203.0.113.10:443", "", "wire 203.0.113.10:443"},
		{"tcp", "198.18.0.4:3128", "", "wire 198.18.0.4:3128"},
		{"tcp", "[2001:db8::10]:22", "", "wire [2001:db8::10]:22"},
		{"tcp", "[::ffff:203.0.113.10]:80", "", "wire 203.0.113.10:80"},
		{"tcp", "203.0.113.10:443", "eth0", "wire 203.0.113.10:443"},
		{"tcp", "[fe80::1%eth0]:443", "", "wire [fe80::1]:443"},
		{"udp", "9.9.9.9:53", "", "dns over udp who"},
		{"udp", "127.0.0.53:53", "", "dns over udp who"},
		{"udp", "[::1]:53", "", "dns over udp who"},
		{"udp", "[2001:4860:4860::8888]:53", "eth0", "dns over udp who"},
		{"tcp", "9.9.9.9:53", "", "dns over tcp"},
		{"tcp", "[2001:4860:4860::8888]:53", "", "dns over tcp"},
		{"tcp", "127.0.0.1:5432", "", "port 5432"},
		{"tcp", "[::1]:5432", "", "port 5432"},
		{"tcp", "198.18.0.3:5432", "", "wire 198.18.0.3:5432"},
		{"tcp", "127.0.0.1:5433", "", "ECONNREFUSED"},
		{"tcp", "[::1]:5433", "", "ECONNREFUSED"},
		{"tcp", "198.18.0.1:5433", "", "ECONNREFUSED"},
		{"tcp", "203.0.113.10:443", "lo", "ECONNREFUSED"},
		{"udp", "203.0.113.10:443", "", "EPERM"},
		{"udp", "[2001:db8::10]:443", "", "EPERM"},
		{"udp", "224.0.0.251:5353", "", "EPERM"},
		{"udp", "[ff02::fb%eth0]:5353", "", "EPERM"},
		{"udp", "203.0.113.10:443", "far0", "EPERM"},
	}
	each(t, func(t *testing.T, w who) {
		var args []string
		for _, c := range cases {
			args = append(args, c.network, c.to, c.device)
		}
		p := w.probe("call", args...)
		p.Ports = []uint16{5432}
		got := lines(w.run(t, p).succeed(t))
		if len(got) != len(cases) {
			t.Fatalf("%d answers to %d calls: %q", len(got), len(cases), got)
		}
		for i, c := range cases {
			if got[i] != c.want {
				t.Errorf("%s to %s (%s): %q, not %q", c.network, c.to, c.device, got[i], c.want)
			}
		}
	})
}

func TestWhatAProgramMayNotDo(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		out := w.run(t, w.probe("send")).succeed(t)
		for _, line := range lines(out) {
			what, how, _ := strings.Cut(line, ": ")
			refused := strings.Contains(how, "operation not permitted") || strings.Contains(how, "permission denied") ||
				strings.Contains(how, "read-only file system") || what == "becoming root" && strings.Contains(how, "invalid argument")
			if what == "becoming root" && w.user.UID == 0 {
				continue
			}
			if !refused {
				t.Errorf("%s: %s", what, how)
			}
		}
		if n := len(lines(out)); n != 18 {
			t.Errorf("%d attempts:\n%s", n, out)
		}
	})
}

func TestThisMachinesPortsThatCantBeHad(t *testing.T) {
	for _, c := range []struct {
		ports []uint16
		want  string
	}{
		{[]uint16{0}, "port 0 of this machine: there is no such port"},
		{[]uint16{53}, "port 53 of this machine: port 53 is the name server's inside"},
		{[]uint16{80, 80}, "port 80 of this machine: named twice"},
	} {
		t.Run(c.want, func(t *testing.T) {
			each(t, func(t *testing.T, w who) {
				p := w.plan("exit 3")
				p.Ports = c.ports
				_, err := w.start(t, Options{}).Build(p)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestManyPortsOfThisMachine(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		p := w.plan("true")
		for port := range uint16(300) {
			p.Ports = append(p.Ports, 10_000+port)
		}
		l := w.start(t, Options{})
		room, err := l.Build(p)
		must(t, err)
		defer room.close()
		for _, port := range p.Ports {
			at := fmt.Sprint(room.Ports[port][0].Addr(), " ", room.Ports[port][1].Addr())
			if want := fmt.Sprintf("127.0.0.1:%d [::1]:%d", port, port); at != want {
				t.Fatalf("port %d listens at %s", port, at)
			}
		}
	})
}

func TestPlansThatCantBeMeant(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		"the plan names no program":       func(p *Plan) { p.Argv = nil },
		"\"a\\x00b\" holds a NUL":         func(p *Plan) { p.Env = []string{"a\x00b"} },
		"\"x\" is not an absolute path":   func(p *Plan) { p.Cover = []string{"x"} },
		"\"./y\" is not an absolute path": func(p *Plan) { p.Replace = []File{{Path: "./y"}} },
	} {
		t.Run(want, func(t *testing.T) {
			p := Plan{Argv: []string{"true"}}
			change(&p)
			if err := p.check(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v", err)
			}
		})
	}
	if !slices.Equal((&Plan{Cover: []string{"/a"}, Replace: []File{{Path: "/b"}}}).paths(), []string{"/a", "/b"}) {
		t.Error("a path isn't checked")
	}
}
