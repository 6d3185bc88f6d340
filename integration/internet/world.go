package internet

import (
	"fmt"
	"net/http"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// World is the small internet and the machine beside it.
type World struct {
	Machine   *Machine
	DNS       *DNS
	Trap      *Trap
	Authority *Authority

	net      *network
	servers  map[string]*Server
	started  map[string]error // by the real servers asked for so far
	nginxLog string
}

// Addr4 is the internet's address 203.0.113.n, Addr6 the 2001:db8::n (as digits) that belongs to the same server.
func Addr4(n byte) netip.Addr { return netip.AddrFrom4([4]byte{203, 0, 113, n}) }
func Addr6(n byte) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("2001:db8::%d", n)) }

// zone is what the DNS server knows for every test: who is where.
var zone = []struct {
	host  byte
	names []string
}{
	{7, []string{"echo.test"}},
	{10, []string{"allowed.test", "www.allowed.test"}},
	{11, []string{"denied.test"}},
	{12, []string{"big.test", "slow.test"}},
	{22, []string{"git.test"}},
	{25, []string{"banner.test"}},
	{30, []string{"shared.test", "other.test", "one.test", "two.test"}},
	{40, []string{"db.test"}},
	{66, []string{"evil.test", "*.evil.test"}},
}

// Ports of echo.test and banner.test.
const (
	EchoPort  = 7    // sends back what comes
	SumPort   = 7000 // reads to the end, then sends the sum and SumAfter bytes of Stream
	SinkPort  = 9    // reads to the end and says nothing
	ResetPort = 7001 // reads ten bytes and resets
	SumAfter  = 5 << 20
)

// Banners are what banner.test says first, by port.
var Banners = map[uint16]string{
	21: "220 ftp ready\r\n", 22: "SSH-2.0-banner\r\n", 25: "220 mail ready\r\n", 3306: "J\x00\x00\x00\n8.0.0\x00", 143: "* OK imap ready\r\n",
}

var open = sync.OnceValues(lay)

// Open lays the small internet, once for a process that called Enter, and gives it.
func Open() (*World, error) { return open() }

func lay() (*World, error) {
	n, err := layNetwork()
	if err != nil {
		return nil, err
	}
	w := &World{Machine: &Machine{}, net: n, servers: map[string]*Server{}, started: map[string]error{}}
	for _, step := range []func() error{
		func() (err error) { w.Authority, err = newAuthority(); return err },
		func() error { return w.Authority.trust() },
		w.layDNS, func() (err error) { w.Trap, err = layTrap(n); return err },
		w.layServers, freshHomes,
	} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("laying the internet: %w", err)
		}
	}
	return w, nil
}

func (w *World) layDNS() error {
	w.DNS = newDNS()
	for _, z := range zone {
		for _, name := range z.names {
			err := w.DNS.always(fmt.Sprintf("%s. 60 IN A %s", name, Addr4(z.host)), fmt.Sprintf("%s. 60 IN AAAA %s", name, Addr6(z.host)))
			if err != nil {
				return err
			}
		}
	}
	err := w.DNS.always(
		fmt.Sprintf("v4only.test. 60 IN A %s", Addr4(10)), fmt.Sprintf("v6only.test. 60 IN AAAA %s", Addr6(10)),
		"metadata.google.internal. 60 IN A 169.254.169.254", "alias.test. 60 IN CNAME allowed.test.",
	)
	if err != nil {
		return err
	}
	return w.DNS.start(w.net)
}

// layServers starts what is written in Go; the real servers start when a test first asks for them.
func (w *World) layServers() error {
	for name, host := range map[string]byte{"denied": 11, "big": 12, "shared": 30, "evil": 66} {
		if err := w.site(w.server(name), name+".test", nil, Addr4(host), Addr6(host)); err != nil {
			return err
		}
	}
	both := func(n byte) []netip.Addr { return []netip.Addr{Addr4(n), Addr6(n)} }
	echo := w.server("echo")
	for port, h := range map[uint16]Handler{EchoPort: Echo, SumPort: SumOf(SumAfter), SinkPort: Sink, ResetPort: ResetAfter(10)} {
		if err := echo.raw(port, h, both(7)...); err != nil {
			return err
		}
	}
	banner := w.server("banner")
	for port, line := range Banners {
		if err := banner.raw(port, Greet(line), both(25)...); err != nil {
			return err
		}
	}
	return nil
}

// real are the servers that are programs of their own, with their hosts.
var real = map[string]func(*World, *Server) error{
	"allowed": func(w *World, s *Server) error { return w.startNginx(s, "allowed.test", Addr4(10), Addr6(10)) },
	"db":      func(w *World, s *Server) error { return w.startPostgres(s, Addr4(40), Addr6(40)) },
	"git": func(w *World, s *Server) error {
		if err := w.startSSH(s, Addr4(22), Addr6(22)); err != nil {
			return err
		}
		backend, err := gitBackend()
		if err != nil {
			return err
		}
		over := map[string]http.Handler{"/repo.git/": gitOverHTTP(backend, git.home)}
		return w.site(s, "git.test", over, Addr4(22), Addr6(22))
	},
}

func gitBackend() (string, error) {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return "", fmt.Errorf("looking for git's programs: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"), nil
}

func (w *World) server(name string) *Server {
	if w.servers[name] == nil {
		w.servers[name] = newServer(w.net, name)
	}
	return w.servers[name]
}

// Start starts the real servers called so: allowed (nginx), git (OpenSSH), db (PostgreSQL).
func (w *World) Start(names ...string) error {
	for _, name := range names {
		begin := real[name]
		if begin == nil {
			return fmt.Errorf("starting the server %q: there is none", name)
		}
		err, begun := w.started[name]
		if !begun {
			err = begin(w, w.server(name))
			w.started[name] = err
		}
		if err != nil {
			return fmt.Errorf("starting the server %q: %w", name, err)
		}
	}
	return nil
}

// Server is the server called so, by the first label of its name. A real one must have been started.
func (w *World) Server(name string) *Server {
	s := w.servers[name]
	if s == nil {
		panic("no server " + name)
	}
	return s
}

// Reset empties every record and the homes, for the next test.
func (w *World) Reset() error {
	for _, s := range w.servers {
		s.reset()
	}
	w.DNS.reset()
	w.Trap.reset()
	if w.nginxLog != "" {
		if err := truncate(w.nginxLog); err != nil {
			return err
		}
	}
	if err := empty("/tmp"); err != nil {
		return err
	}
	return freshHomes()
}

// New gives a test the world, with empty records and homes and the real servers it names. At the test's end the machine
// must be as it was, and no trap may have seen a packet.
func New(t testing.TB, servers ...string) *World {
	t.Helper()
	w, err := Open()
	if err == nil {
		err = w.Start(servers...)
	}
	if err == nil {
		err = w.Reset()
	}
	if err != nil {
		t.Fatal(err)
	}
	before := w.Snapshot(t)
	t.Cleanup(func() {
		if err := w.Same(before); err != nil {
			t.Error(err)
		}
		if packets := w.Trap.Packets(); len(packets) > 0 {
			t.Errorf("a metadata address was called: %d packets, the first %+v; bytes %q", len(packets), packets[0], w.Trap.Bytes())
		}
	})
	return w
}
