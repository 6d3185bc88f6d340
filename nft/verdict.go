package nft

import (
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// to gives the flow a new destination: a listener of the room.
func (a addressing) to(port uint16) []expr.Any {
	return []expr.Any{
		&expr.Immediate{Register: 1, Data: a.addr.AsSlice()},
		&expr.Immediate{Register: 2, Data: binaryutil.BigEndian.PutUint16(port)},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: uint32(a.nfproto), RegAddrMin: 1, RegProtoMin: 2},
	}
}

func accept() []expr.Any { return []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}} }

func counter() []expr.Any { return []expr.Any{&expr.Counter{}} }

// reset answers a TCP packet as a closed port would. An ICMP error wouldn't do: while connect holds the socket the kernel
// only notes it, and the caller waits for the SYN's second try.
func reset() []expr.Any { return []expr.Any{&expr.Reject{Type: unix.NFT_REJECT_TCP_RST}} }

// prohibited answers with "communication administratively prohibited" in the packet's own family.
func prohibited() []expr.Any {
	return []expr.Any{&expr.Reject{Type: unix.NFT_REJECT_ICMPX_UNREACH, Code: unix.NFT_REJECT_ICMPX_ADMIN_PROHIBITED}}
}
