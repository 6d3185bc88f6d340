package dnsproxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

func silent(int, asked) *dns.Msg { return nil }

func failing(rcode int) func(int, asked) *dns.Msg {
	return func(_ int, q asked) *dns.Msg { return new(dns.Msg).SetRcode(q.msg, rcode) }
}

func TestServers(t *testing.T) {
	one := script("a.test. 60 IN A 203.0.113.1")
	two := script("a.test. 60 IN A 203.0.113.2")
	tests := map[string]struct {
		options string
		servers []func(int, asked) *dns.Msg
		want    string // addresses
		rcode   int
		err     bool
		counts  []int // how often each server was asked; nil: any
	}{
		"the first server is asked":                      {servers: []func(int, asked) *dns.Msg{one, two}, want: "203.0.113.1", counts: []int{1, 0}},
		"a server that fails makes room for the next":    {servers: []func(int, asked) *dns.Msg{failing(dns.RcodeServerFailure), two}, want: "203.0.113.2", counts: []int{1, 1}},
		"so does one that refuses":                       {servers: []func(int, asked) *dns.Msg{failing(dns.RcodeRefused), two}, want: "203.0.113.2"},
		"so does one that isn't there":                   {servers: []func(int, asked) *dns.Msg{one, nil, two}, want: "203.0.113.1"},
		"so does one that says nothing":                  {options: "timeout:30", servers: []func(int, asked) *dns.Msg{silent, two}, want: "203.0.113.2"},
		"no such name is an answer":                      {servers: []func(int, asked) *dns.Msg{script(), two}, rcode: dns.RcodeNameError, counts: []int{1, 0}},
		"if all fail, what one said is the answer":       {options: "attempts:1", servers: []func(int, asked) *dns.Msg{failing(dns.RcodeRefused), failing(dns.RcodeServerFailure)}, rcode: dns.RcodeServerFailure},
		"a server is asked as often as attempts says":    {options: "attempts:3", servers: []func(int, asked) *dns.Msg{failing(dns.RcodeServerFailure)}, rcode: dns.RcodeServerFailure, counts: []int{3}},
		"a question that was lost is asked again":        {options: "timeout:30", servers: []func(int, asked) *dns.Msg{lost(1, one)}, want: "203.0.113.1", counts: []int{2}},
		"if none says a thing, there is no answer":       {options: "timeout:1 attempts:1", servers: []func(int, asked) *dns.Msg{silent}, err: true, counts: []int{1}},
		"a server that doesn't know EDNS is asked plain": {servers: []func(int, asked) *dns.Msg{noEDNS(one)}, want: "203.0.113.1", counts: []int{2}},
		"use-vc asks over TCP":                           {options: "use-vc", servers: []func(int, asked) *dns.Msg{onlyTCP(one)}, want: "203.0.113.1", counts: []int{1}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			r, ups := newTestResolver(t, test.options, test.servers...)
			a, err := ask1(t, r, "a.test", dns.TypeA)
			if (err != nil) != test.err {
				t.Fatal(err)
			}
			if err == nil && (addrsText(a.addrs) != test.want || a.rcode != test.rcode) {
				t.Errorf("%v, %s", a.addrs, dns.RcodeToString[a.rcode])
			}
			for i, n := range test.counts {
				if ups[i].count() != n {
					t.Errorf("server %d was asked %d times, want %d", i+1, ups[i].count(), n)
				}
			}
		})
	}
}

func lost(n int, say func(int, asked) *dns.Msg) func(int, asked) *dns.Msg {
	return func(i int, q asked) *dns.Msg {
		if i <= n {
			return nil
		}
		return say(i, q)
	}
}

func noEDNS(say func(int, asked) *dns.Msg) func(int, asked) *dns.Msg {
	return func(i int, q asked) *dns.Msg {
		if q.msg.IsEdns0() != nil {
			m := new(dns.Msg).SetRcode(q.msg, dns.RcodeFormatError)
			m.Question = nil
			return m
		}
		return say(i, q)
	}
}

func onlyTCP(say func(int, asked) *dns.Msg) func(int, asked) *dns.Msg {
	return func(i int, q asked) *dns.Msg {
		if !q.tcp {
			return new(dns.Msg).SetRcode(q.msg, dns.RcodeNameError)
		}
		return say(i, q)
	}
}

func TestAServerThatDidNotAnswerComesLast(t *testing.T) {
	r, ups := newTestResolver(t, "timeout:30", silent, script("a.test. 60 IN A 203.0.113.2", "b.test. 60 IN A 203.0.113.2"))
	for _, n := range []string{"a.test", "b.test"} {
		if _, err := ask1(t, r, n, dns.TypeA); err != nil {
			t.Fatal(err)
		}
	}
	if ups[0].count() != 1 {
		t.Errorf("it was asked %d times", ups[0].count())
	}
}

func TestRotate(t *testing.T) {
	say := func(_ int, q asked) *dns.Msg { return new(dns.Msg).SetRcode(q.msg, dns.RcodeNameError) }
	r, ups := newTestResolver(t, "rotate", say, say)
	for i := range 4 {
		ask1(t, r, fmt.Sprintf("n%d.test", i), dns.TypeA)
	}
	if ups[0].count() != 2 || ups[1].count() != 2 {
		t.Errorf("asked %d and %d times", ups[0].count(), ups[1].count())
	}
}

// manyAddrs are the records of a name that don't fit a datagram of 1,232 octets.
func manyAddrs(n string, count int) (records []string) {
	for i := range count {
		records = append(records, fmt.Sprintf("%s 60 IN A 203.0.%d.%d", n, 113+i/250, i%250))
	}
	return records
}

func TestAnAnswerThatDoesNotFitIsAskedOverTCP(t *testing.T) {
	r, ups := newTestResolver(t, "", script(manyAddrs("big.test.", 300)...))
	a, err := ask1(t, r, "big.test", dns.TypeA)
	if err != nil || len(a.addrs) != 300 {
		t.Fatalf("%v, %v", a, err)
	}
	if ups[0].count() != 2 || !ups[0].last().tcp {
		t.Errorf("asked %d times, the last time over TCP: %v", ups[0].count(), ups[0].last().tcp)
	}
}

// TestForgedAnswers has a server that sends what an attacker might before the true answer.
func TestForgedAnswers(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	defer done.Wait()
	defer pc.Close()
	ports := make(map[string]bool)
	ids := make(map[uint16]bool)
	done.Go(func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			q := new(dns.Msg)
			if q.Unpack(buf[:n]) != nil {
				return
			}
			ports[from.String()], ids[q.Id] = true, true
			send := func(change func(*dns.Msg), record string) {
				m := new(dns.Msg).SetReply(q)
				m.Answer = append(m.Answer, mustRR(record))
				change(m)
				b, _ := m.Pack()
				pc.WriteTo(b, from)
			}
			forged := "a.test. 60 IN A 203.0.113.66"
			pc.WriteTo([]byte("x"), from)
			send(func(m *dns.Msg) { m.Id++ }, forged)
			send(func(m *dns.Msg) { m.Response = false }, forged)
			send(func(m *dns.Msg) { m.Question[0].Name = "b.test." }, forged)
			send(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAAAA }, forged)
			send(func(m *dns.Msg) { m.Question = nil }, forged)
			send(func(m *dns.Msg) { m.Opcode = dns.OpcodeNotify }, forged)
			send(func(m *dns.Msg) { m.Question[0].Name = "A.TEST." }, "a.test. 0 IN A 203.0.113.1")
		}
	})
	r, _ := newTestResolver(t, "", nil)
	r.port = uint16(pc.LocalAddr().(*net.UDPAddr).Port)
	for range socketUses + 10 {
		a, err := ask1(t, r, "a.test", dns.TypeA)
		if err != nil || addrsText(a.addrs) != "203.0.113.1" {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	pc.Close()
	done.Wait()
	if len(ports) < 2 {
		t.Error("one port was used for more questions than it should be")
	}
	if len(ids) < socketUses {
		t.Errorf("%d ids for %d questions", len(ids), socketUses+10)
	}
}

func TestAServerThatForgesOnlyIsGivenUp(t *testing.T) {
	r, _ := newTestResolver(t, "attempts:1 timeout:30", func(_ int, q asked) *dns.Msg {
		return nil
	})
	forger, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	defer done.Wait()
	defer forger.Close()
	done.Go(func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := forger.ReadFrom(buf)
			if err != nil {
				return
			}
			buf[0]++
			buf[2] |= 0x80
			for range forgeries {
				forger.WriteTo(buf[:n], from)
			}
		}
	})
	r.port = uint16(forger.LocalAddr().(*net.UDPAddr).Port)
	if _, err := ask1(t, r, "a.test", dns.TypeA); !errors.Is(err, errForged) {
		t.Errorf("%v", err)
	}
}

// TestOverTCP has a server that answers over TCP in ways that it shouldn't.
func TestOverTCP(t *testing.T) {
	tests := map[string]func(net.Conn, *dns.Msg){
		"closes at once":         func(c net.Conn, _ *dns.Msg) {},
		"answers another id":     func(c net.Conn, q *dns.Msg) { q.Id++; writeFramed(c, new(dns.Msg).SetReply(q)) },
		"answers half a message": func(c net.Conn, _ *dns.Msg) { c.Write([]byte{1, 0, 0, 0}) },
		"answers no message":     func(c net.Conn, _ *dns.Msg) { c.Write([]byte{0, 0}) },
	}
	for sentence, serve := range tests {
		t.Run(sentence, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var done sync.WaitGroup
			defer done.Wait()
			defer l.Close()
			done.Go(func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					var length [2]byte
					io.ReadFull(c, length[:])
					msg := make([]byte, binary.BigEndian.Uint16(length[:]))
					io.ReadFull(c, msg)
					q := new(dns.Msg)
					q.Unpack(msg)
					serve(c, q)
					c.Close()
				}
			})
			r, _ := newTestResolver(t, "use-vc attempts:1", nil)
			r.port = uint16(l.Addr().(*net.TCPAddr).Port)
			if _, err := ask1(t, r, "a.test", dns.TypeA); err == nil {
				t.Error("it was taken for an answer")
			}
		})
	}
}

func writeFramed(c net.Conn, m *dns.Msg) {
	b, _ := m.Pack()
	c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...))
}
