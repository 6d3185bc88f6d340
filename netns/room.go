package netns

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// Room is a room that is built: the sockets inside that the machine's side serves. They are the caller's to close.
type Room struct {
	// IPv6 says whether the room has IPv6. Where the machine has it switched off, the room has none at all.
	IPv6 bool
	// Wire accept every TCP connection that isn't to the room itself: of IPv4, then of IPv6 where there is IPv6.
	Wire []*net.TCPListener
	// DNSUDP and DNSTCP get every query to port 53 of any address: of IPv4, then of IPv6.
	DNSUDP []*net.UDPConn
	DNSTCP []*net.TCPListener
	// Ports are the listeners for this machine's ports: at 127.0.0.1, then ::1.
	Ports map[uint16][]*net.TCPListener
}

// take puts a socket that init handed up where it belongs.
func (r *Room) take(m message) error {
	var body socketBody
	file := m.file
	if file == nil {
		return errors.New("taking a socket of the room: none came")
	}
	m.file = nil
	defer file.Close()
	if err := m.into(&body); err != nil {
		return err
	}
	switch body.Use {
	case useWire:
		return listener(file, &r.Wire)
	case useDNSTCP:
		return listener(file, &r.DNSTCP)
	case useDNSUDP:
		return datagrams(file, &r.DNSUDP)
	case usePort:
		list := r.Ports[body.Port]
		err := listener(file, &list)
		r.Ports[body.Port] = list
		return err
	}
	return fmt.Errorf("taking a socket of the room: unknown use %q", body.Use)
}

func listener(file *os.File, to *[]*net.TCPListener) error {
	l, err := net.FileListener(file)
	if err != nil {
		return fmt.Errorf("taking a listener of the room: %w", err)
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		l.Close()
		return fmt.Errorf("taking a listener of the room: it is a %T", l)
	}
	*to = append(*to, tcp)
	return nil
}

func datagrams(file *os.File, to *[]*net.UDPConn) error {
	c, err := net.FilePacketConn(file)
	if err != nil {
		return fmt.Errorf("taking a socket of the room: %w", err)
	}
	udp, ok := c.(*net.UDPConn)
	if !ok {
		c.Close()
		return fmt.Errorf("taking a socket of the room: it is a %T", c)
	}
	*to = append(*to, udp)
	return nil
}

func (r *Room) close() {
	for _, list := range append([][]*net.TCPListener{r.Wire, r.DNSTCP}, lists(r.Ports)...) {
		for _, l := range list {
			l.Close()
		}
	}
	for _, c := range r.DNSUDP {
		c.Close()
	}
}

func lists(ports map[uint16][]*net.TCPListener) [][]*net.TCPListener {
	var all [][]*net.TCPListener
	for _, list := range ports {
		all = append(all, list)
	}
	return all
}
