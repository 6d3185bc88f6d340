package netns

import "net"

// Room is a room that is built: the sockets inside that the machine's side serves. They are the caller's to close.
type Room struct {
	// IPv6 says whether the room has IPv6. Where the machine has it switched off, the room has none at all.
	IPv6 bool
	// Wire accept every TCP connection that isn't to the room itself: at 127.0.0.1, then at ::1 where there is IPv6.
	Wire []*net.TCPListener
	// DNSUDP and DNSTCP get every query to port 53 of any address: at 127.0.0.1, then ::1.
	DNSUDP []*net.UDPConn
	DNSTCP []*net.TCPListener
	// Ports are the listeners for this machine's ports: at 127.0.0.1, then ::1.
	Ports map[uint16][]*net.TCPListener
}
