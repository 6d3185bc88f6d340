package dnsproxy

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func dialTCP(t testing.TB, r *rig) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", r.tcp)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(30 * time.Second))
	return c.(*net.TCPConn)
}

func framed(t testing.TB, m *dns.Msg) []byte {
	b := packed(t, m)
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)
}

func readFramed(t testing.TB, c io.Reader) *dns.Msg {
	t.Helper()
	var length [2]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		t.Fatal(err)
	}
	m := new(dns.Msg)
	if err := m.Unpack(b); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPipelinedQueries(t *testing.T) {
	slow := make(chan struct{})
	r := newRig(t, func(_ int, q asked) *dns.Msg {
		if q.Name == "slow.test." {
			<-slow
		}
		m := new(dns.Msg).SetReply(q.msg)
		m.Answer = append(m.Answer, mustRR(q.Name+" 0 IN A 203.0.113.1"))
		return m
	}, "*.test").serve(t)
	defer close(slow)
	c := dialTCP(t, r)
	const count = 100
	var all []byte
	all = append(all, framed(t, question1("slow.test", dns.TypeA))...)
	for i := range count {
		q := question1(fmt.Sprintf("n%d.test", i), dns.TypeA)
		q.Id = uint16(i)
		all = append(all, framed(t, q)...)
	}
	go c.Write(all)
	seen := make(map[string]bool)
	for range count { // the slow one holds none of them up
		m := readFramed(t, c)
		if m.Question[0].Name != fmt.Sprintf("n%d.test.", m.Id) || said(m) != "NOERROR, A 203.0.113.1" {
			t.Fatalf("%v", m)
		}
		seen[m.Question[0].Name] = true
	}
	if len(seen) != count {
		t.Errorf("%d different answers", len(seen))
	}
}

func TestAQueryInPieces(t *testing.T) {
	r := newRig(t, world, "allowed.test").serve(t)
	c := dialTCP(t, r)
	c.SetNoDelay(true)
	for _, b := range framed(t, question1("allowed.test", dns.TypeA)) {
		if _, err := c.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if got := said(readFramed(t, c)); got != "NOERROR, A 203.0.113.10, A 203.0.113.11" {
		t.Error(got)
	}
}

func TestAClientThatHasNoMoreToAskGetsItsAnswers(t *testing.T) {
	r := newRig(t, world, "allowed.test", "alias.test").serve(t)
	c := dialTCP(t, r)
	c.Write(append(framed(t, question1("allowed.test", dns.TypeA)), framed(t, question1("alias.test", dns.TypeA))...))
	c.CloseWrite()
	for range 2 {
		if m := readFramed(t, c); len(m.Answer) < 2 {
			t.Errorf("%v", m)
		}
	}
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("then %v", err)
	}
}

func TestWhatIsNotDNSIsClosedAndTold(t *testing.T) {
	tests := map[string]struct {
		send []byte
		told bool
	}{
		"a request for a page":     {[]byte("GET /latest/meta-data/ HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n"), true},
		"another service's hello":  {[]byte("SSH-2.0-OpenSSH_9.2\r\n"), true},
		"a message too short":      {append([]byte{0, 5}, make([]byte, 20)...), true},
		"an answer":                {append([]byte{0, 12, 1, 2, 0x80, 0, 0, 1}, make([]byte, 20)...), true},
		"something that ends soon": {[]byte("hello"), true},
		"nothing at all":           {nil, false},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			var told atomic.Int32
			r := newRig(t, world, "allowed.test")
			r.NotDNS = func(c net.Conn) { told.Add(1) }
			r.serve(t)
			c := dialTCP(t, r)
			c.Write(test.send)
			c.CloseWrite()
			if got, err := io.ReadAll(c); len(got) > 0 {
				t.Errorf("it answered %q, %v", got, err)
			}
			if (told.Load() == 1) != test.told {
				t.Errorf("told %d times", told.Load())
			}
		})
	}
}

func TestAConnectionThatCarriedAQueryIsNotTold(t *testing.T) {
	var told atomic.Int32
	r := newRig(t, world, "allowed.test")
	r.NotDNS = func(c net.Conn) { told.Add(1) }
	r.serve(t)
	c := dialTCP(t, r)
	c.Write(append(framed(t, question1("allowed.test", dns.TypeA)), 0, 30, 1))
	readFramed(t, c)
	c.CloseWrite()
	io.ReadAll(c)
	if told.Load() != 0 {
		t.Error("a client that was cut off was told")
	}
}

func TestMoreConnectionsThanThereIsRoomFor(t *testing.T) {
	r := newRig(t, world, "allowed.test").serve(t)
	var idle []*net.TCPConn
	for range maxStreams {
		idle = append(idle, dialTCP(t, r))
	}
	late := dialTCP(t, r)
	late.Write(framed(t, question1("allowed.test", dns.TypeA)))
	for _, c := range idle[:10] {
		c.Close()
	}
	if got := said(readFramed(t, late)); got != "NOERROR, A 203.0.113.10, A 203.0.113.11" {
		t.Error(got)
	}
}
