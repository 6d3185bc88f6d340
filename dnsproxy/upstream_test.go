package dnsproxy

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// upstream is a scripted name server on a loopback address. It keeps what it was asked.
type upstream struct {
	mu    sync.Mutex
	asked []asked
	say   func(n int, q asked) *dns.Msg // n counts from 1; nil says nothing
}

type asked struct {
	dns.Question
	tcp bool
	msg *dns.Msg
}

// script answers with records in the form of a zone file; what it doesn't hold is NXDOMAIN, with a SOA.
func script(records ...string) func(int, asked) *dns.Msg {
	zone := make(map[dns.Question][]dns.RR)
	names := make(map[string]bool)
	for _, text := range records {
		rr, err := dns.NewRR(text)
		if err != nil {
			panic(err)
		}
		h := rr.Header()
		q := dns.Question{Name: strings.ToLower(h.Name), Qtype: h.Rrtype, Qclass: h.Class}
		zone[q] = append(zone[q], rr)
		names[q.Name] = true
	}
	return func(_ int, q asked) *dns.Msg {
		m := new(dns.Msg).SetReply(q.msg)
		m.RecursionAvailable = true
		name := strings.ToLower(q.Name)
		m.Answer = append(m.Answer, chase(zone, name, q.Qtype, 8)...)
		if len(m.Answer) == 0 {
			m.Ns = append(m.Ns, mustRR("test. 60 IN SOA ns.test. root.test. 1 2 3 4 30"))
			if !names[name] {
				m.Rcode = dns.RcodeNameError
			}
		}
		return m
	}
}

func chase(zone map[dns.Question][]dns.RR, name string, qtype uint16, left int) []dns.RR {
	found := zone[dns.Question{Name: name, Qtype: qtype, Qclass: dns.ClassINET}]
	alias := zone[dns.Question{Name: name, Qtype: dns.TypeCNAME, Qclass: dns.ClassINET}]
	if len(found) > 0 || len(alias) == 0 || left == 0 {
		return found
	}
	return append(slices.Clone(alias), chase(zone, alias[0].(*dns.CNAME).Target, qtype, left-1)...)
}

func mustRR(text string) dns.RR {
	rr, err := dns.NewRR(text)
	if err != nil {
		panic(err)
	}
	return rr
}

// start listens on UDP and TCP at one port of a loopback address; port 0 takes any.
func (u *upstream) start(t testing.TB, addr string, port uint16) netip.AddrPort {
	t.Helper()
	for range 20 {
		pc, err := net.ListenPacket("udp", net.JoinHostPort(addr, portText(port)))
		if err != nil {
			t.Fatal(err)
		}
		at := netip.MustParseAddrPort(pc.LocalAddr().String())
		l, err := net.Listen("tcp", at.String())
		if err != nil { // that port is someone else's over TCP
			pc.Close()
			continue
		}
		pc.(*net.UDPConn).SetReadBuffer(4 << 20)
		u.serve(t, &dns.Server{PacketConn: pc, Handler: u})
		u.serve(t, &dns.Server{Listener: l, Handler: u})
		return at
	}
	t.Fatal("no port is free for both UDP and TCP")
	return netip.AddrPort{}
}

func portText(p uint16) string { return strconv.Itoa(int(p)) }

func (u *upstream) serve(t testing.TB, s *dns.Server) {
	up := make(chan struct{})
	s.NotifyStartedFunc = func() { close(up) }
	var done sync.WaitGroup
	done.Go(func() { s.ActivateAndServe() })
	<-up
	t.Cleanup(func() { s.Shutdown(); done.Wait() })
}

// ServeDNS answers one message.
func (u *upstream) ServeDNS(w dns.ResponseWriter, m *dns.Msg) {
	q := asked{Question: m.Question[0], msg: m, tcp: w.RemoteAddr().Network() == "tcp"}
	u.mu.Lock()
	u.asked = append(u.asked, q)
	n, say := len(u.asked), u.say
	u.mu.Unlock()
	reply := say(n, q)
	if reply == nil {
		return
	}
	reply.Compress = true
	if !q.tcp {
		size := dns.MinMsgSize
		if opt := m.IsEdns0(); opt != nil {
			size = int(opt.UDPSize())
		}
		reply.Truncate(size)
		reply.Compress = true
	}
	w.WriteMsg(reply)
}

// last is what was asked last.
func (u *upstream) last() asked {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asked[len(u.asked)-1]
}

// names are the names that were asked, each with its type, in order.
func (u *upstream) names() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var all []string
	for _, q := range u.asked {
		all = append(all, strings.ToLower(q.Name)+" "+dns.TypeToString[q.Qtype])
	}
	return all
}

func (u *upstream) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.asked)
}
