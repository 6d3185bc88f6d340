package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"

	"lnk/integration/internet"
	"lnk/nft"
)

// Where the servers are, and the machine. The resolver's is the address in the machine's resolv.conf.
var (
	serverAddr   = internet.Addr4(10)
	resolverAddr = internet.Addr4(53)
	gateway      = netip.MustParseAddr("10.200.0.1")
)

// serverName is what the servers are called in the internet's DNS.
const serverName = "server.test"

// layInternet makes the internet's namespace, its addresses and the link to the machine.
func layInternet() (*space, error) {
	s, err := newSpace("internet")
	if err != nil {
		return nil, err
	}
	if err := up("lo"); err != nil {
		return nil, err
	}
	link := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: "eth0"}, PeerName: "eth0", PeerNamespace: netlink.NsFd(int(s.handle)),
	}
	if err := netlink.LinkAdd(link); err != nil {
		return nil, fmt.Errorf("linking the machine to the internet: %w", err)
	}
	err = s.do(func() error {
		return layAddresses("eth0", netip.PrefixFrom(gateway, 24), netip.PrefixFrom(serverAddr, 24), netip.PrefixFrom(resolverAddr, 24))
	})
	if err != nil {
		return nil, err
	}
	if err := layAddresses("eth0", netip.PrefixFrom(internet.Machine4, 24)); err != nil {
		return nil, err
	}
	return s, route(gateway)
}

// layAddresses brings lo and a link up, with its addresses.
func layAddresses(name string, addrs ...netip.Prefix) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("finding %s: %w", name, err)
	}
	for _, a := range addrs {
		n := &net.IPNet{IP: a.Addr().AsSlice(), Mask: net.CIDRMask(a.Bits(), a.Addr().BitLen())}
		if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: n}); err != nil {
			return fmt.Errorf("adding the address %s: %w", a, err)
		}
	}
	if err := up("lo"); err != nil {
		return err
	}
	return up(name)
}

func up(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("finding %s: %w", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("bringing %s up: %w", name, err)
	}
	return nil
}

func route(by netip.Addr) error {
	link, err := netlink.LinkByName("eth0")
	if err != nil {
		return err
	}
	r := &netlink.Route{LinkIndex: link.Attrs().Index, Gw: by.AsSlice(), Flags: int(netlink.FLAG_ONLINK)}
	if err := netlink.RouteAdd(r); err != nil {
		return fmt.Errorf("adding the default route by %s: %w", by, err)
	}
	return nil
}

// The link of a room, whose other end is inside as well, and its size: as large a segment as on lo.
const (
	roomLink    = "eth0"
	roomFarEnd  = "far0"
	roomLinkMTU = 65520
)

// layRoom makes a namespace that is like the one of a sandbox (package netns), with the same table, so that every TCP connection
// arrives at wirePort of its own address.
func layRoom(name string) (*space, error) {
	s, err := newSpace(name)
	if err != nil {
		return nil, err
	}
	return s, s.do(func() error {
		if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: roomLink}, PeerName: roomFarEnd}); err != nil {
			return fmt.Errorf("adding a room's link: %w", err)
		}
		if err := layEnd(roomFarEnd, roomLinkMTU); err != nil {
			return err
		}
		if err := layEnd(roomLink, roomLinkMTU); err != nil {
			return err
		}
		if err := layAddresses(roomLink, netip.PrefixFrom(nft.Addr4, 32)); err != nil {
			return err
		}
		if err := route(nft.Addr4.Next()); err != nil {
			return err
		}
		if err := nft.Install(nft.Ports{Wire4: wirePort}); err != nil {
			return err
		}
		return track()
	})
}

// wirePort is where a peer listens in a room.
const wirePort = 1

// layEnd brings an end of a room's link up, of its size and without ARP: nobody is there to answer.
func layEnd(name string, mtu int) error {
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetMTU(link, mtu)
	}
	if err == nil {
		err = netlink.LinkSetARPOff(link)
	}
	if err != nil {
		return fmt.Errorf("making the end %s of a room's link: %w", name, err)
	}
	return up(name)
}

// track sets connection tracking as a sandbox's room has it; a closed connection's state would soon fill the table.
func track() error {
	for key, value := range map[string]string{"nf_conntrack_tcp_be_liberal": "1", "nf_conntrack_tcp_timeout_time_wait": "5"} {
		if err := os.WriteFile("/proc/sys/net/netfilter/"+key, []byte(value), 0o644); err != nil {
			return fmt.Errorf("setting a room's connection tracking: %w", err)
		}
	}
	return nil
}
