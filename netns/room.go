package netns

import (
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

// take puts sockets that init handed up where they belong.
func (r *Room) take(m message) error {
	var body socketsBody
	files, err := m.with(&body)
	if err != nil {
		return err
	}
	defer closeAll(files)
	r.IPv6 = body.IPv6
	if len(files) != len(body.Sockets) {
		return fmt.Errorf("taking the room's sockets: %d came, not %d", len(files), len(body.Sockets))
	}
	for i, s := range body.Sockets {
		if err := r.put(s, files[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Room) put(s socketBody, file *os.File) error {
	switch s.Use {
	case useWire:
		return listener(file, &r.Wire)
	case useDNSTCP:
		return listener(file, &r.DNSTCP)
	case useDNSUDP:
		return datagrams(file, &r.DNSUDP)
	case usePort:
		list := r.Ports[s.Port]
		err := listener(file, &list)
		r.Ports[s.Port] = list
		return err
	}
	return fmt.Errorf("taking a socket of the room: unknown use %q", s.Use)
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
