package nft

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// writeFrame sends a UDP datagram as a raw Ethernet frame to the link's other end, past every output hook.
func writeFrame(t *testing.T, link, to string, port uint16) error {
	t.Helper()
	out, err := net.InterfaceByName(link)
	if err != nil {
		return err
	}
	other, err := net.InterfaceByName(far)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	frame := append(append(append([]byte{}, other.HardwareAddr...), out.HardwareAddr...), 0x08, 0x00)
	frame = append(frame, datagram(netip.MustParseAddr("203.0.113.10"), netip.MustParseAddr(to), port)...)
	return unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: out.Index, Protocol: 0x0008, Halen: 6})
}

func datagram(from, to netip.Addr, port uint16) []byte {
	ip := make([]byte, 28)
	ip[0], ip[8], ip[9] = 0x45, 64, unix.IPPROTO_UDP
	binary.BigEndian.PutUint16(ip[2:], 28)
	copy(ip[12:], from.AsSlice())
	copy(ip[16:], to.AsSlice())
	binary.BigEndian.PutUint16(ip[10:], checksum(ip[:20]))
	binary.BigEndian.PutUint16(ip[20:], 4444)
	binary.BigEndian.PutUint16(ip[22:], port)
	binary.BigEndian.PutUint16(ip[24:], 8) // no checksum: optional over IPv4
	return ip
}

func checksum(header []byte) uint16 {
	var sum uint32
	for i := 0; i < len(header); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(header[i:]))
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum)
}
