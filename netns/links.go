package netns

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lnk/nft"
)

// farEnd is the other end of the room's link. It is inside as well: what is sent to it arrives in a room that drops it.
const farEnd = "far0"

// The gateways of the default routes. Nobody is there, and nobody is asked: without ARP (IFF_NOARP) a packet for them is
// sent at once, and neither a neighbour's answer nor its absence is waited for.
var (
	gateway4 = net.IPv4(198, 18, 0, 2)
	gateway6 = net.ParseIP("fd6c:6e6b::2")
)

// makeLinks brings up lo and the link, with the room's addresses and routes that lead nowhere.
func makeLinks(ipv6 bool) error {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("opening route netlink: %w", err)
	}
	defer h.Close()
	if err := addLink(h); err != nil {
		return err
	}
	ifs, err := openInterfaces()
	if err != nil {
		return err
	}
	defer ifs.close()
	for _, up := range []struct {
		name  string
		flags uint16
	}{{"lo", unix.IFF_UP}, {farEnd, unix.IFF_UP | unix.IFF_NOARP}, {nft.Link, unix.IFF_UP | unix.IFF_NOARP}} {
		if err := ifs.set(up.name, up.flags); err != nil {
			return err
		}
	}
	index, err := ifs.index(nft.Link)
	if err != nil {
		return err
	}
	return address(h, index, ipv6)
}

func addLink(h *netlink.Handle) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = nft.Link
	err := h.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: farEnd})
	if errors.Is(err, unix.EOPNOTSUPP) {
		return &RightError{"this kernel has no veth devices", "sudo modprobe veth", err}
	}
	if err != nil {
		return fmt.Errorf("adding the link %s: %w", nft.Link, err)
	}
	return nil
}

// address gives the link its addresses and the default routes. IFA_F_NODAD: the address is usable at once.
func address(h *netlink.Handle, index int, ipv6 bool) error {
	link := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: index}}
	type family struct {
		addr  net.IPNet
		flags int
		via   net.IP
	}
	families := []family{{net.IPNet{IP: nft.Addr4.AsSlice(), Mask: net.CIDRMask(32, 32)}, 0, gateway4}}
	if ipv6 {
		families = append(families, family{net.IPNet{IP: nft.Addr6.AsSlice(), Mask: net.CIDRMask(128, 128)}, unix.IFA_F_NODAD, gateway6})
	}
	for _, f := range families {
		if err := h.AddrAdd(link, &netlink.Addr{IPNet: &f.addr, Flags: f.flags}); err != nil {
			return fmt.Errorf("adding the address %s: %w", f.addr.IP, err)
		}
		route := netlink.Route{LinkIndex: index, Gw: f.via, Flags: int(netlink.FLAG_ONLINK)}
		if err := h.RouteAdd(&route); err != nil {
			return fmt.Errorf("adding the default route via %s: %w", f.via, err)
		}
	}
	return nil
}

// interfaces asks and sets by ioctl what netlink would answer with a dump.
type interfaces struct{ fd int }

func openInterfaces() (interfaces, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return interfaces{}, fmt.Errorf("opening a socket for interfaces: %w", err)
	}
	return interfaces{fd}, nil
}

func (i interfaces) close() { unix.Close(i.fd) }

// set adds flags to the interface's.
func (i interfaces) set(name string, flags uint16) error {
	req, err := i.do(name, unix.SIOCGIFFLAGS)
	if err != nil {
		return fmt.Errorf("reading the flags of %s: %w", name, err)
	}
	req.SetUint16(req.Uint16() | flags)
	if err := unix.IoctlIfreq(i.fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("bringing up %s: %w", name, err)
	}
	return nil
}

func (i interfaces) index(name string) (int, error) {
	req, err := i.do(name, unix.SIOCGIFINDEX)
	if err != nil {
		return 0, fmt.Errorf("reading the index of %s: %w", name, err)
	}
	return int(req.Uint32()), nil
}

func (i interfaces) do(name string, request uint) (*unix.Ifreq, error) {
	req, err := unix.NewIfreq(name)
	if err != nil {
		return nil, err
	}
	return req, unix.IoctlIfreq(i.fd, request, req)
}
