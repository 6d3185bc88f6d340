package nft

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/google/nftables"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// The room's own addresses, which every listener of the wire and of the DNS server is bound to: of the benchmarking range
// (RFC 2544), and a unique local one (RFC 4193).
var (
	Addr4 = netip.AddrFrom4([4]byte{198, 18, 0, 1})
	Addr6 = netip.AddrFrom16([16]byte{0xfd, 0x6c, 0x6e, 0x6b, 15: 1})
)

// Ports are the ports at Addr4 and Addr6 that the wire and the DNS server listen on. A family whose port is 0 has no
// listener: what would have gone to it is rejected.
type Ports struct{ Wire4, Wire6, DNS4, DNS6 uint16 }

// patience bounds the wait for the kernel's answers. It answers a batch before the send returns; but where it lacks
// nf_tables it answers a batch once instead of once for each message, and a reader of all answers would never end.
const patience = 5 * time.Second

// Install makes the table in the network namespace of the calling thread, in one batch: all of it or nothing. Its errors
// wrap the kernel's errno.
func Install(p Ports) error {
	if err := probe(); err != nil {
		return fmt.Errorf("asking the kernel for nf_tables: %w", err)
	}
	c, err := nftables.New(nftables.AsLasting(), nftables.WithSockOptions(func(c *netlink.Conn) error {
		return c.SetReadDeadline(time.Now().Add(patience))
	}))
	if err != nil {
		return fmt.Errorf("opening netfilter's netlink: %w", err)
	}
	defer c.CloseLasting()
	table := c.AddTable(&nftables.Table{Name: "lnk", Family: nftables.TableFamilyINet})
	for _, chain := range chains(p) {
		chain.add(c, table)
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("making the table inet lnk: %w", err)
	}
	return nil
}

// probe asks for the ruleset's generation, which a kernel that has nf_tables always answers.
func probe() error {
	c, err := netlink.Dial(unix.NETLINK_NETFILTER, nil)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Execute(netlink.Message{
		Header: netlink.Header{
			Type:  netlink.HeaderType(unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETGEN),
			Flags: netlink.Request,
		},
		Data: []byte{unix.AF_UNSPEC, unix.NFNETLINK_V0, 0, 0}, // struct nfgenmsg
	})
	return err
}
