package internet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// trapped are addresses where clouds serve secrets to whoever asks from the machine.
var trapped = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("169.254.170.2"), netip.MustParseAddr("169.254.169.253"),
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("fd00:ec2::254"),
}

// TrapSecret is what a trap answers to any request: seen in a sandbox, a secret got out.
const TrapSecret = "AKIA-TRAP-SECRET"

// trapPort is where redirected connections to every port of the trapped addresses arrive.
const trapPort = 1

// Packet is one packet that reached a trapped address.
type Packet struct {
	Protocol uint8 // of IP: 6 is TCP, 17 UDP
	To       netip.AddrPort
	Length   int // of the IP packet
}

// Trap records each packet to the trapped addresses as it arrives on the internet's link, and answers TCP on all of
// their ports, so that a client goes on to say what it came for. (Port 53 is left to DNS.Also.)
type Trap struct {
	mu      sync.Mutex
	packets []Packet
	server  *Server
}

// Packets are the packets that came since the world was given to this test.
func (t *Trap) Packets() []Packet {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.packets)
}

// Bytes is what TCP clients sent.
func (t *Trap) Bytes() []byte { return t.server.Bytes() }

func (t *Trap) reset() {
	t.server.reset()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.packets = nil
}

// layTrap sets the traps in the internet's namespace.
func layTrap(n *network) (*Trap, error) {
	t := &Trap{server: newServer(n, "trap")}
	answer := func(c *Conn) {
		buf := make([]byte, 4096)
		if _, err := c.Read(buf); err != nil {
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(TrapSecret), TrapSecret)
		io.Copy(io.Discard, c)
	}
	if err := t.server.raw(trapPort, answer, netip.IPv4Unspecified(), netip.IPv6Unspecified()); err != nil {
		return nil, err
	}
	if err := redirect(n); err != nil {
		return nil, fmt.Errorf("redirecting the traps' ports: %w", err)
	}
	var tap *os.File
	if err := n.do(func() (err error) { tap, err = openTap(); return err }); err != nil {
		return nil, fmt.Errorf("recording the traps' packets: %w", err)
	}
	go t.record(tap)
	return t, nil
}

// redirect sends TCP to any port of a trapped address, but 53, to the trap's listener.
func redirect(n *network) error {
	c, err := nftables.New(nftables.WithNetNSFd(int(n.file.Fd())))
	if err != nil {
		return err
	}
	table := c.AddTable(&nftables.Table{Name: "trap", Family: nftables.TableFamilyINet})
	chain := c.AddChain(&nftables.Chain{
		Name: "arrive", Table: table, Type: nftables.ChainTypeNAT, Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityNATDest,
	})
	for _, a := range trapped {
		family, offset := byte(unix.NFPROTO_IPV4), uint32(16)
		if a.Is6() {
			family, offset = unix.NFPROTO_IPV6, 24
		}
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
			&expr.Cmp{Register: 1, Data: []byte{family}},
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: uint32(a.BitLen() / 8)},
			&expr.Cmp{Register: 1, Data: a.AsSlice()},
			&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
			&expr.Cmp{Register: 1, Data: []byte{unix.IPPROTO_TCP}},
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
			&expr.Cmp{Register: 1, Op: expr.CmpOpNeq, Data: binaryutil.BigEndian.PutUint16(53)},
			&expr.Immediate{Register: 1, Data: binaryutil.BigEndian.PutUint16(trapPort)},
			&expr.Redir{RegisterProtoMin: 1},
		}})
	}
	return c.Flush()
}

// openTap opens a socket that gets each IP packet that arrives on the link for what may be a trapped address.
func openTap() (*os.File, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	filter, err := tapFilter()
	if err == nil {
		err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, filter)
	}
	if err == nil {
		var link *net.Interface
		if link, err = net.InterfaceByName("eth0"); err == nil {
			all := binaryutil.NativeEndian.Uint16(binaryutil.BigEndian.PutUint16(unix.ETH_P_ALL))
			err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: link.Index})
		}
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "tap"), nil
}

// tapFilter keeps busy traffic from this process: it lets pass what goes to a trapped IPv4 address, or to an IPv6
// address that begins as a trapped one does.
func tapFilter() (*unix.SockFprog, error) {
	v4 := []bpf.Instruction{bpf.LoadAbsolute{Off: 16, Size: 4}}
	v6 := []bpf.Instruction{bpf.LoadAbsolute{Off: 24, Size: 4}}
	for _, a := range trapped {
		head := binary.BigEndian.Uint32(a.AsSlice())
		hit := []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: head, SkipTrue: 1}, bpf.RetConstant{Val: 0xffff}}
		if a.Is4() {
			v4 = append(v4, hit...)
		} else {
			v6 = append(v6, hit...)
		}
	}
	v4 = append(v4, bpf.RetConstant{Val: 0})
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 1}, bpf.ALUOpConstant{Op: bpf.ALUOpShiftRight, Val: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 6, SkipTrue: uint8(len(v4))},
	}
	program = append(append(append(program, v4...), v6...), bpf.RetConstant{Val: 0})
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}, nil
}

func (t *Trap) record(tap *os.File) {
	buf := make([]byte, 64<<10)
	for {
		n, err := tap.Read(buf)
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if p, ok := parsePacket(buf[:max(n, 0)]); ok && slices.Contains(trapped, p.To.Addr()) {
			t.mu.Lock()
			t.packets = append(t.packets, p)
			t.mu.Unlock()
		}
	}
}

// parsePacket reads as much of an IP packet as the record holds.
func parsePacket(b []byte) (Packet, bool) {
	var p Packet
	var rest []byte
	var to netip.Addr
	switch {
	case len(b) >= 20 && b[0]>>4 == 4:
		p.Protocol, to = b[9], netip.AddrFrom4([4]byte(b[16:20]))
		rest = b[min(int(b[0]&15)*4, len(b)):]
	case len(b) >= 40 && b[0]>>4 == 6:
		p.Protocol, to = b[6], netip.AddrFrom16([16]byte(b[24:40]))
		rest = b[40:]
	default:
		return p, false
	}
	var port uint16
	if len(rest) >= 4 && (p.Protocol == unix.IPPROTO_TCP || p.Protocol == unix.IPPROTO_UDP) {
		port = binary.BigEndian.Uint16(rest[2:])
	}
	p.To, p.Length = netip.AddrPortFrom(to, port), len(b)
	return p, true
}
