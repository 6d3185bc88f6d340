package internet

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
)

// These tests prove the world itself: what the product is later judged by works without it, from the machine.

func TestMain(m *testing.M) {
	Enter(Tool{"world-client", "lnk/integration/client"})
	os.Exit(m.Run())
}

func ok(t *testing.T, r Result, want string) {
	t.Helper()
	if r.Status != 0 || !strings.Contains(r.Stdout+r.Stderr, want) {
		t.Errorf("want status 0 and %q, got %v", want, r)
	}
}

func TestRealWebServerByRealClients(t *testing.T) {
	w := New(t, "allowed")
	for _, c := range [][]string{
		{"curl", "-sS", "https://allowed.test/"},
		{"curl", "-sS", "-6", "http://allowed.test/"},
		{"wget", "-qO-", "https://allowed.test/"},
		{"/usr/bin/python3", "-c", "import urllib.request as u; print(u.urlopen('https://allowed.test/').read().decode())"},
		{"node", "-e", "fetch('https://allowed.test/').then(r => r.text()).then(console.log)"},
		{"world-client", "get", "https://allowed.test/"},
	} {
		ok(t, w.Machine.Run(t, Rootless, c...), strings.TrimSpace(NginxPage))
	}
	ctx, cancel := within(5 * time.Second)
	defer cancel()
	calls, err := w.Server("allowed").Settled(ctx)
	if err != nil || len(calls) != 6 {
		t.Errorf("the record holds %d calls, want 6 (%v)", len(calls), err)
	}
	// nginx writes a request down once it has ended, and that may be after the client has its answer.
	requests, err := w.NginxRequests()
	if err != nil || len(requests) != 6 {
		t.Errorf("nginx wrote down %d requests, want 6 (%v)", len(requests), err)
	}
}

func TestCountsAreOfTheConnectionItself(t *testing.T) {
	w := New(t)
	r := w.Machine.Run(t, Rootless, "curl", "-sS", "-w", "%{size_request} %{size_header} %{size_download}", "-o", "/dev/null", "http://denied.test/bytes/100000")
	var request, header, body int64
	if _, err := fmt.Sscan(r.Stdout, &request, &header, &body); err != nil {
		t.Fatalf("%v: %v", err, r)
	}
	ctx, cancel := within(5 * time.Second)
	defer cancel()
	calls, err := w.Server("denied").Settled(ctx)
	if err != nil || len(calls) != 1 || calls[0].In != request || calls[0].Out != header+body {
		t.Errorf("the client counts %d out and %d in, the record %+v (%v)", request, header+body, calls, err)
	}
	if got := string(w.Server("denied").Bytes()); !strings.HasPrefix(got, "GET /bytes/100000 HTTP/1.1\r\n") {
		t.Errorf("the record begins %q", got)
	}
}

func TestGit(t *testing.T) {
	w := New(t, "git")
	for _, u := range []User{Root, Ada, Rootless} {
		if err := w.LaySSH(u); err != nil {
			t.Fatal(err)
		}
		ok(t, w.Machine.Run(t, u, "git", "clone", "-q", "git@git.test:repo.git", "by-ssh"), "")
		ok(t, w.Machine.Run(t, u, "git", "clone", "-q", "https://git.test/repo.git", "by-https"), "")
		ok(t, w.Machine.Run(t, u, "cmp", "by-ssh/"+GitFile, "by-https/"+GitFile), "")
	}
}

func TestDatabase(t *testing.T) {
	w := New(t, "db")
	ok(t, w.Machine.Run(t, Rootless, "psql", "-h", "db.test", "-U", "ada", "-Atc", "select 6*7", "postgres"), "42")
	ok(t, w.Machine.Run(t, Rootless, "psql", "host=db.test user=ada dbname=postgres sslmode=verify-full sslrootcert="+CAFile, "-Atc", "select ssl from pg_stat_ssl where pid = pg_backend_pid()"), "t")
}

func TestRawServers(t *testing.T) {
	w := New(t)
	ok(t, w.Machine.RunInput(t, Rootless, "hello", "nc", "-N", "echo.test", "7"), "hello")
	for port, line := range Banners {
		ok(t, w.Machine.Run(t, Rootless, "nc", "-N", "banner.test", fmt.Sprint(port)), line)
	}
	r := w.Machine.RunInput(t, Rootless, "abc", "sh", "-c", "nc -N echo.test 7000 | { read -r l; echo \"$l\"; sha256sum; }")
	ok(t, r, "3 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n"+StreamSum(SumAfter))
	if r := w.Machine.Run(t, Rootless, "nc", "-w", "5", "-z", "echo.test", "6"); r.Status == 0 {
		t.Errorf("a closed port answers: %v", r)
	}
}

func TestScriptedDNS(t *testing.T) {
	w := New(t)
	w.DNS.Add(t, `text.test. 5 IN TXT "hello"`)
	w.DNS.Script("flip.test", func(n int, qtype string) Answer {
		if n%2 == 0 {
			return Answer{Rcode: 2}
		}
		return Answer{Records: []string{"flip.test. 0 IN A 203.0.113.11"}}
	})
	w.DNS.Script("cut.test", func(n int, qtype string) Answer {
		return Answer{Cut: true, Records: []string{"cut.test. 0 IN A 203.0.113.10"}}
	})
	for _, c := range []struct{ query, want string }{
		{"dig +short TXT text.test", "hello"}, {"dig flip.test", "203.0.113.11"}, {"dig flip.test", "SERVFAIL"},
		{"dig nowhere.test", "NXDOMAIN"}, {"dig +short alias.test", "allowed.test.\n203.0.113.10"}, {"dig +short cut.test", "203.0.113.10"},
		{"dig @2001:db8::53 +tcp +short allowed.test", "203.0.113.10"},
	} {
		ok(t, w.Machine.Run(t, Rootless, strings.Fields(c.query)...), c.want)
	}
	if asked := w.DNS.Asked("cut.test"); len(asked) != 2 || asked[0].Proto != "udp" || asked[1].Proto != "tcp" {
		t.Errorf("the cut answer was asked for as %+v", asked)
	}
	w.StartUnbound(t)
	ok(t, w.Machine.Run(t, Rootless, "dig", "@"+Unbound.String(), "+short", "allowed.test"), "203.0.113.10")
}

func TestSilentAndUnreachableAddresses(t *testing.T) {
	w := New(t)
	for _, a := range []netip.Addr{Silent4, Silent6} {
		if r := w.Machine.Run(t, Rootless, "curl", "-sS", "--connect-timeout", "1", "http://"+netip.AddrPortFrom(a, 80).String()); r.Status != 28 {
			t.Errorf("%s: want curl's status for a time-out, got %v", a, r)
		}
	}
	if r := w.Machine.Run(t, Rootless, "curl", "-sS", "--connect-timeout", "5", "http://"+Unreachable4.String()); r.Status != 7 {
		t.Errorf("want curl's status for a failed connect, got %v", r)
	}
}

func TestTrapsSeeWhoeverCalls(t *testing.T) {
	w := New(t)
	defer w.Trap.reset()
	for _, a := range trapped {
		for _, port := range []uint16{80, 443, 32526, 65535} {
			ok(t, w.Machine.Run(t, Rootless, "curl", "-sS", "http://"+netip.AddrPortFrom(a, port).String()+"/latest"), TrapSecret)
		}
	}
	w.Machine.RunInput(t, Rootless, "x", "nc", "-u", "-w", "1", "169.254.169.254", "123")
	seen := map[netip.AddrPort]bool{}
	for _, p := range w.Trap.Packets() {
		seen[p.To] = true
	}
	if want := len(trapped)*4 + 1; len(seen) != want {
		t.Errorf("%d addresses and ports were seen, want %d", len(seen), want)
	}
	if n := strings.Count(string(w.Trap.Bytes()), "GET /latest"); n != len(trapped)*4 {
		t.Errorf("%d requests were recorded, want %d", n, len(trapped)*4)
	}
}

func TestUsers(t *testing.T) {
	w := New(t)
	for u, want := range map[User]string{Root: "0 root", Sudo: "0 4001 root", Ada: "4001 ada", Rootless: "4002 bob"} {
		ok(t, w.Machine.Run(t, u, "sh", "-c", "echo $(id -u) $SUDO_UID $(id -un)"), want)
	}
	if r := w.Machine.Run(t, Rootless, "sudo", "-n", "true"); r.Status == 0 {
		t.Error("bob may use sudo")
	}
	ok(t, w.Machine.Run(t, Rootless, "unshare", "-Urnpf", "--mount-proc", "id", "-u"), "0")
}

func TestSnapshotSeesWhatIsLeft(t *testing.T) {
	w := New(t)
	before := w.Snapshot(t)
	for what, c := range map[string]struct{ do, undo string }{
		"links":         {"ip link add odd0 type veth peer odd1", "ip link del odd0"},
		"nft":           {"nft add table inet odd", "nft delete table inet odd"},
		"routes":        {"ip route add 192.0.2.0/24 dev eth0", "ip route del 192.0.2.0/24"},
		"rules":         {"ip rule add from 192.0.2.1 table 7", "ip rule del from 192.0.2.1"},
		"sysctls":       {"sysctl -qw net.ipv4.ip_forward=1", "sysctl -qw net.ipv4.ip_forward=0"},
		"mounts":        {"mount -t tmpfs odd /mnt", "umount /mnt"},
		"files in /run": {"touch /run/odd", "rm /run/odd"},
		"namespaces":    {"ip netns add odd", "ip netns del odd; umount /run/netns; rmdir /run/netns"},
		"processes":     {"setsid sleep 100 >/dev/null 2>&1 </dev/null & echo $! >/mnt/../var/odd.pid", "kill $(cat /var/odd.pid); rm /var/odd.pid"},
	} {
		ok(t, w.Machine.Run(t, Root, "sh", "-c", c.do), "")
		if diff := before.Diff(w.Snapshot(t)); !strings.Contains(diff, what+": ") {
			t.Errorf("after %q the snapshots differ in: %s", c.do, diff)
		}
		ok(t, w.Machine.Run(t, Root, "sh", "-c", c.undo), "")
		if err := w.Same(before); err != nil {
			t.Errorf("after %q: %v", c.undo, err)
		}
	}
}

func TestStream(t *testing.T) {
	w := New(t)
	r := w.Machine.Run(t, Rootless, "sh", "-c", "curl -sS https://big.test/bytes/100000000 | sha256sum")
	ok(t, r, StreamSum(100000000))
}

func TestNothingLeadsOut(t *testing.T) {
	w := New(t)
	r := w.Machine.Run(t, Root, "curl", "-sS", "--connect-timeout", "2", "http://192.0.2.77/")
	if r.Status == 0 {
		t.Errorf("an address of nobody's answers: %v", r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := w.Machine.Command(ctx, Root, "test", "-e", "/run/systemd").Run(); err == nil {
		t.Error("the outer machine's /run is seen")
	}
}
