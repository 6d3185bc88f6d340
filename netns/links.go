package netns

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lnk/nft"
)

// link is the room's only one. Programs that ask whether they are online look for something like it.
const link = "eth0"

// farEnd is the other end of the room's link. It is inside as well, without an address: what is sent to it arrives in a room
// that drops it.
const farEnd = "far0"

// linkMTU is lo's size: a connection's segments are sized by the link that its first route names, and all of it goes by lo.
const linkMTU = 65520

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
	}{{"lo", unix.IFF_UP}, {farEnd, unix.IFF_UP | unix.IFF_NOARP}, {link, unix.IFF_UP | unix.IFF_NOARP}} {
		if err := ifs.set(up.name, up.flags); err != nil {
			return err
		}
	}
	index, err := ifs.index(link)
	if err != nil {
		return err
	}
	if err := address(h, index, nft.Addr4, gateway4); err != nil || !ipv6 {
		return err
	}
	return address(h, index, nft.Addr6, gateway6)
}

func addLink(h *netlink.Handle) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = link
	attrs.MTU = linkMTU
	err := h.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: farEnd})
	if errors.Is(err, unix.EOPNOTSUPP) {
		return &RightError{"this kernel has no veth devices", "sudo modprobe veth", err}
	}
	if err != nil {
		return fmt.Errorf("adding the link %s: %w", link, err)
	}
	return nil
}

// address gives the link an address of one family and a default route. A kernel thread makes IPv6's local route, at the end
// of a detection of duplicates that doesn't take place; a packet sent before would be lost, so it is made here as well.
func address(h *netlink.Handle, index int, addr netip.Addr, gateway net.IP) error {
	own := &net.IPNet{IP: addr.AsSlice(), Mask: net.CIDRMask(addr.BitLen(), addr.BitLen())}
	device := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: index}}
	if addr.Is4() {
		if err := h.AddrAdd(device, &netlink.Addr{IPNet: own}); err != nil {
			return fmt.Errorf("adding the address %s: %w", addr, err)
		}
	} else {
		if err := h.AddrAdd(device, &netlink.Addr{IPNet: own, Flags: unix.IFA_F_NODAD}); err != nil {
			return fmt.Errorf("adding the address %s: %w", addr, err)
		}
		local := netlink.Route{LinkIndex: index, Dst: own, Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL}
		if err := h.RouteAdd(&local); err != nil {
			return fmt.Errorf("adding the local route to %s: %w", addr, err)
		}
	}
	if err := h.RouteAdd(&netlink.Route{LinkIndex: index, Gw: gateway, Flags: int(netlink.FLAG_ONLINK)}); err != nil {
		return fmt.Errorf("adding the default route via %s: %w", gateway, err)
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
