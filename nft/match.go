package nft

import (
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// What the kernel itself sends to keep IPv6 on a link going. Only it can: a raw socket takes CAP_NET_RAW.
const (
	neighborSolicit = 135 // RFC 4861
	neighborAdvert  = 136 // RFC 4861
	listenerReport  = 143 // RFC 3810
)

// loopback is lo's index, the same in every network namespace.
const loopback = 1

func (a addressing) family() []expr.Any { return meta(expr.MetaKeyNFPROTO, a.nfproto) }

func protocol(number byte) []expr.Any { return meta(expr.MetaKeyL4PROTO, number) }

// port matches a destination port; what goes before it has matched TCP or UDP.
func port(n uint16) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		equal(binaryutil.BigEndian.PutUint16(n)),
	}
}

func icmp6(kind byte) []expr.Any {
	return append(join(meta(expr.MetaKeyNFPROTO, unix.NFPROTO_IPV6), protocol(unix.IPPROTO_ICMPV6)),
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Len: 1},
		equal([]byte{kind}))
}

// local matches a destination that is an address of the room itself: `fib daddr type local`.
func local() []expr.Any {
	return []expr.Any{
		&expr.Fib{Register: 1, ResultADDRTYPE: true, FlagDADDR: true},
		equal(binaryutil.NativeEndian.PutUint32(unix.RTN_LOCAL)),
	}
}

func established() []expr.Any {
	return []expr.Any{
		&expr.Ct{Register: 1, Key: expr.CtKeySTATE},
		&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4,
			Mask: binaryutil.NativeEndian.PutUint32(expr.CtStateBitESTABLISHED), Xor: make([]byte, 4)},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: make([]byte, 4)},
	}
}

// byLoopback matches packets that go out (OIF) or came in (IIF) by lo.
func byLoopback(key expr.MetaKey) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: key, Register: 1},
		equal(binaryutil.NativeEndian.PutUint32(loopback)),
	}
}

func meta(key expr.MetaKey, value byte) []expr.Any {
	return []expr.Any{&expr.Meta{Key: key, Register: 1}, equal([]byte{value})}
}

func equal(data []byte) expr.Any { return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: data} }
