package main

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"net"
	"strings"
	"syscall"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// The DNS server answers every question for an A record: with the servers' own address where it is known by that name,
// with one that comes of the name otherwise. Nobody calls those.

const (
	nameServers = 2 // sockets, one for each processor of a small machine
	nameBatch   = 32
	answerTTL   = 300
)

// serverName is what the servers are called.
const serverName = "server.test"

var serverAddr = [4]byte{203, 0, 113, 10}

func serveNames(at string) error {
	reuse := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		return err
	}}
	for range nameServers {
		c, err := reuse.ListenPacket(context.Background(), "udp4", at)
		if err != nil {
			return err
		}
		go answerNames(ipv4.NewPacketConn(c))
	}
	return nil
}

func answerNames(c *ipv4.PacketConn) {
	in := make([]ipv4.Message, nameBatch)
	for i := range in {
		in[i].Buffers = [][]byte{make([]byte, 1232)}
	}
	for {
		n, err := c.ReadBatch(in, 0)
		if err != nil {
			return
		}
		out := make([]ipv4.Message, 0, nameBatch)
		for _, m := range in[:n] {
			if a := answerName(m.Buffers[0][:m.N]); a != nil {
				out = append(out, ipv4.Message{Buffers: [][]byte{a}, Addr: m.Addr})
			}
		}
		for len(out) > 0 {
			sent, err := c.WriteBatch(out, 0)
			if err != nil {
				return
			}
			out = out[sent:]
		}
	}
}

// answerName answers one question; nil where it isn't one.
func answerName(q []byte) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(q)
	if err != nil {
		return nil
	}
	asked, err := p.Question()
	if err != nil {
		return nil
	}
	b := dnsmessage.NewBuilder(make([]byte, 0, 128), dnsmessage.Header{
		ID: head.ID, Response: true, RecursionDesired: head.RecursionDesired, RecursionAvailable: true,
	})
	b.EnableCompression()
	b.StartQuestions()
	b.Question(asked)
	if asked.Type == dnsmessage.TypeA {
		b.StartAnswers()
		b.AResource(dnsmessage.ResourceHeader{Name: asked.Name, Class: asked.Class, TTL: answerTTL}, dnsmessage.AResource{A: addressOf(asked.Name.String())})
	}
	done, err := b.Finish()
	if err != nil {
		return nil
	}
	return done
}

// addressOf makes an address of 11.0.0.0/8 of a name.
func addressOf(name string) [4]byte {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == serverName {
		return serverAddr
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	a := binary.BigEndian.AppendUint32(nil, h.Sum32())
	return [4]byte{11, a[1], a[2], a[3]}
}
