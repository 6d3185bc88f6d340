package internet

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The link between the machine and the internet, and where the machine looks up names.
var (
	Machine4   = netip.MustParseAddr("10.200.0.2") // the machine's own addresses
	Machine6   = netip.MustParseAddr("2001:db8:ffff::2")
	gateway4   = netip.MustParseAddr("10.200.0.1")
	gateway6   = netip.MustParseAddr("2001:db8:ffff::1")
	resolver4  = netip.MustParseAddr("203.0.113.53")
	resolver6  = netip.MustParseAddr("2001:db8::53")
	resolvConf = "nameserver " + resolver4.String() + "\n"
)

// owned is what the internet's namespace answers for. The upper half of 2001:db8::/32 is left to the link, because the local table
// is asked before any other.
var owned = []string{"203.0.113.0/24", "198.51.100.0/24", "2001:db8::/33"}

// silent are addresses in it where every packet vanishes, unreachable those it says it can't reach.
var (
	Silent4      = netip.MustParseAddr("203.0.113.99")
	Silent6      = netip.MustParseAddr("2001:db8::99")
	Unreachable4 = netip.MustParseAddr("203.0.113.98")
)

// network is the internet's namespace, held by an open file.
type network struct{ file *os.File }

// layNetwork makes the internet's namespace and the link to the machine, which is the namespace of the caller.
func layNetwork() (*network, error) {
	file, err := newNamespace()
	if err != nil {
		return nil, fmt.Errorf("making the internet's namespace: %w", err)
	}
	n := &network{file}
	if err := up("lo"); err != nil {
		return nil, err
	}
	if err := noDuplicates(); err != nil {
		return nil, err
	}
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: "eth0"}, PeerName: "eth0",
		PeerNamespace: netlink.NsFd(int(file.Fd())),
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return nil, fmt.Errorf("linking the machine to the internet: %w", err)
	}
	if err := n.do(n.layInternet); err != nil {
		return nil, fmt.Errorf("laying the internet's side: %w", err)
	}
	if err := layMachine(); err != nil {
		return nil, fmt.Errorf("laying the machine's side: %w", err)
	}
	return n, nil
}

// newNamespace makes a network namespace on a thread that is given up for it.
func newNamespace() (*os.File, error) {
	type made struct {
		file *os.File
		err  error
	}
	done := make(chan made)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			done <- made{nil, err}
			return
		}
		f, err := os.Open("/proc/thread-self/ns/net")
		done <- made{f, err}
	}()
	m := <-done
	return m.file, m.err
}

// do calls f on a thread inside the internet's namespace. Sockets made and commands started by f's own goroutine are
// the internet's. The thread is thrown away after it.
func (n *network) do(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- fmt.Errorf("entering the internet: %w", err)
			return
		}
		done <- f()
	}()
	return <-done
}

func (n *network) layInternet() error {
	// Servers bind any address of the networks below without its being on an interface. A host says what it can't reach
	// only where it forwards.
	for _, key := range []string{"ipv4/ip_nonlocal_bind", "ipv6/ip_nonlocal_bind", "ipv4/ip_forward", "ipv6/conf/all/forwarding"} {
		if err := sysctl(key, "1"); err != nil {
			return err
		}
	}
	if err := noDuplicates(); err != nil {
		return err
	}
	if err := up("lo"); err != nil {
		return err
	}
	if err := address("eth0", gateway4, 24, gateway6, 64); err != nil {
		return err
	}
	nets := append([]string{}, owned...)
	for _, t := range trapped {
		nets = append(nets, netip.PrefixFrom(t, t.BitLen()).String())
	}
	for _, prefix := range nets {
		if err := localRoute(prefix, unix.RTN_LOCAL); err != nil {
			return err
		}
	}
	for a, kind := range map[netip.Addr]int{Silent4: unix.RTN_BLACKHOLE, Silent6: unix.RTN_BLACKHOLE, Unreachable4: unix.RTN_UNREACHABLE} {
		if err := localRoute(netip.PrefixFrom(a, a.BitLen()).String(), kind); err != nil {
			return err
		}
	}
	return nil
}

// sysctl sets one of the network namespace that the thread is in.
func sysctl(key, value string) error {
	if err := os.WriteFile("/proc/sys/net/"+key, []byte(value), 0o644); err != nil {
		return fmt.Errorf("setting net/%s: %w", key, err)
	}
	return nil
}

// noDuplicates makes IPv6 addresses usable without a second of looking for their duplicates.
func noDuplicates() error {
	for _, which := range []string{"all", "default"} {
		if err := sysctl("ipv6/conf/"+which+"/accept_dad", "0"); err != nil {
			return err
		}
	}
	return nil
}

// localRoute adds a route to the local table: RTN_LOCAL makes a whole network this host's own.
func localRoute(prefix string, kind int) error {
	_, dst, err := net.ParseCIDR(prefix)
	if err != nil {
		return err
	}
	r := &netlink.Route{Dst: dst, Table: unix.RT_TABLE_LOCAL, Type: kind}
	if kind == unix.RTN_LOCAL {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return err
		}
		r.LinkIndex, r.Scope = lo.Attrs().Index, netlink.SCOPE_HOST
	}
	if err := netlink.RouteAdd(r); err != nil {
		return fmt.Errorf("route to %s: %w", prefix, err)
	}
	return nil
}

func layMachine() error {
	if err := address("eth0", Machine4, 24, Machine6, 64); err != nil {
		return err
	}
	for _, gw := range []netip.Addr{gateway4, gateway6} {
		if err := netlink.RouteAdd(&netlink.Route{Gw: gw.AsSlice()}); err != nil {
			return fmt.Errorf("default route by %s: %w", gw, err)
		}
	}
	return settled("eth0")
}

// settled waits for the link-local address, which the kernel adds in its own time once both ends are up.
func settled(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(10 * time.Second)
	for {
		addrs, err := netlink.AddrList(link, netlink.FAMILY_V6)
		if err != nil {
			return err
		}
		for _, a := range addrs {
			if a.IP.IsLinkLocalUnicast() && a.Flags&unix.IFA_F_TENTATIVE == 0 {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-late:
			return fmt.Errorf("%s has no link-local address", name)
		}
	}
}

func address(name string, a4 netip.Addr, bits4 int, a6 netip.Addr, bits6 int) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("finding %s: %w", name, err)
	}
	for _, p := range []netip.Prefix{netip.PrefixFrom(a4, bits4), netip.PrefixFrom(a6, bits6)} {
		addr := &netlink.Addr{IPNet: &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}}
		if p.Addr().Is6() {
			addr.Flags = unix.IFA_F_NODAD // usable at once
		}
		if err := netlink.AddrAdd(link, addr); err != nil {
			return fmt.Errorf("address %s: %w", p, err)
		}
	}
	return up(name)
}

func up(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("finding %s: %w", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("setting %s up: %w", name, err)
	}
	return nil
}

// listen opens a TCP listener in the internet.
func (n *network) listen(at netip.AddrPort) (*net.TCPListener, error) {
	var l *net.TCPListener
	err := n.do(func() (err error) {
		l, err = net.ListenTCP("tcp"+family(at), net.TCPAddrFromAddrPort(at))
		return err
	})
	return l, err
}

// family ends a network's name so that a listener is of the address's family alone.
func family(at netip.AddrPort) string {
	if at.Addr().Is4() {
		return "4"
	}
	return "6"
}

// listenPacket opens a UDP socket in the internet.
func (n *network) listenPacket(at netip.AddrPort) (*net.UDPConn, error) {
	var c *net.UDPConn
	err := n.do(func() (err error) {
		c, err = net.ListenUDP("udp"+family(at), net.UDPAddrFromAddrPort(at))
		return err
	})
	return c, err
}

// dial makes a connection inside the internet, to a literal address: a name could be dialled from another thread.
func (n *network) dial(to netip.AddrPort) (*net.TCPConn, error) {
	var c *net.TCPConn
	err := n.do(func() (err error) {
		c, err = net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(to))
		return err
	})
	return c, err
}
