package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
)

// The servers' ports.
const (
	portHTTP    = 80
	portDown    = 5001 // sends for as long as it is read
	portUp      = 5002 // reads to the end and answers how much it was
	portConnect = 5003 // answers one octet with one and ends the connection
	portHold    = 5004 // answers one octet with one and keeps the connection
)

// serve runs all servers until somebody ends it.
func serve(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: load serve SERVER RESOLVER")
	}
	at, err := netip.ParseAddr(args[0])
	if err != nil {
		return err
	}
	for port, talk := range map[uint16]func(*net.TCPConn){
		portHTTP: answerRequests, portDown: send, portUp: count, portConnect: answerOnce, portHold: answerAndWait,
	} {
		l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(at, port)))
		if err != nil {
			return err
		}
		go accept(l, talk)
	}
	if err := serveNames(args[1] + ":53"); err != nil {
		return err
	}
	select {}
}

func accept(l *net.TCPListener, talk func(*net.TCPConn)) {
	for {
		c, err := l.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		go func() {
			defer c.Close()
			talk(c)
		}()
	}
}

func send(c *net.TCPConn) {
	buf := make([]byte, chunk)
	for {
		if _, err := c.Write(buf); err != nil {
			return
		}
	}
}

func count(c *net.TCPConn) {
	buf := make([]byte, chunk)
	var total uint64
	for {
		n, err := c.Read(buf)
		total += uint64(n)
		if errors.Is(err, io.EOF) {
			c.Write(binary.BigEndian.AppendUint64(nil, total))
		}
		if err != nil {
			return
		}
	}
}

func answerOnce(c *net.TCPConn) {
	buf := make([]byte, 1)
	if _, err := io.ReadFull(c, buf); err == nil {
		c.Write(buf)
	}
}

func answerAndWait(c *net.TCPConn) {
	answerOnce(c)
	c.Read(make([]byte, 1))
}

// answer is what every request is answered with.
var answer = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\nContent-Length: 128\r\n\r\n" +
	string(bytes.Repeat([]byte("0123456789abcde\n"), 8)))

// answerRequests answers each request without a body.
func answerRequests(c *net.TCPConn) {
	end := []byte("\r\n\r\n")
	buf := make([]byte, 16<<10)
	for n := 0; n < len(buf); {
		got, err := c.Read(buf[n:])
		if err != nil {
			return
		}
		n += got
		for {
			head, rest, whole := bytes.Cut(buf[:n], end)
			if !whole {
				break
			}
			last := bytes.Contains(bytes.ToLower(buf[:len(head)+2]), lastAnswer)
			if _, err := c.Write(answer); err != nil || last {
				return
			}
			n = copy(buf, rest)
		}
	}
}
