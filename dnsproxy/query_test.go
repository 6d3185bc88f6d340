package dnsproxy

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/miekg/dns"

	"lnk/policy"
)

func packed(t testing.TB, m *dns.Msg) []byte {
	t.Helper()
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func question1(text string, qtype uint16) *dns.Msg {
	return new(dns.Msg).SetQuestion(dns.Fqdn(text), qtype)
}

func TestParseQuery(t *testing.T) {
	plain := packed(t, question1("AlloWed.test", dns.TypeA))
	with := func(change func([]byte) []byte) []byte { return change(bytes.Clone(plain)) }
	put := func(at int, v uint16) []byte {
		return with(func(b []byte) []byte { binary.BigEndian.PutUint16(b[at:], v); return b })
	}
	edns := func(change func(*dns.OPT)) []byte {
		m := question1("allowed.test", dns.TypeA).SetEdns0(4096, true)
		change(m.IsEdns0())
		return packed(t, m)
	}
	two := question1("allowed.test", dns.TypeA).SetEdns0(4096, false)
	two.Extra = append(two.Extra, two.Extra[0])
	owned := question1("allowed.test", dns.TypeA).SetEdns0(4096, false)
	owned.Extra[0].Header().Name = "a."

	tests := map[string]struct {
		msg   []byte
		rcode int
		drop  bool
	}{
		"a query":                                     {msg: plain},
		"a query with EDNS":                           {msg: edns(func(*dns.OPT) {})},
		"octets after the message":                    {msg: append(bytes.Clone(plain), 1, 2, 3)},
		"nothing":                                     {drop: true},
		"less than a header":                          {msg: plain[:11], drop: true},
		"an answer":                                   {msg: put(2, bitQR), drop: true},
		"a header alone":                              {msg: plain[:12], rcode: dns.RcodeFormatError},
		"a question that is cut":                      {msg: plain[:len(plain)-1], rcode: dns.RcodeFormatError},
		"no question":                                 {msg: put(4, 0), rcode: dns.RcodeFormatError},
		"two questions":                               {msg: put(4, 2), rcode: dns.RcodeFormatError},
		"an answer section":                           {msg: put(6, 1), rcode: dns.RcodeFormatError},
		"an authority section":                        {msg: put(8, 1), rcode: dns.RcodeFormatError},
		"an additional record that isn't there":       {msg: put(10, 1), rcode: dns.RcodeFormatError},
		"thousands of additional records":             {msg: put(10, 65535), rcode: dns.RcodeFormatError},
		"two OPT records":                             {msg: packed(t, two), rcode: dns.RcodeFormatError},
		"an OPT record that isn't the root's":         {msg: packed(t, owned), rcode: dns.RcodeFormatError},
		"an EDNS version to come":                     {msg: edns(func(o *dns.OPT) { o.SetVersion(1) }), rcode: dns.RcodeBadVers},
		"a status query":                              {msg: put(2, dns.OpcodeStatus<<11), rcode: dns.RcodeNotImplemented},
		"an update":                                   {msg: put(2, dns.OpcodeUpdate<<11), rcode: dns.RcodeNotImplemented},
		"an opcode that nobody knows":                 {msg: put(2, 15<<11), rcode: dns.RcodeNotImplemented},
		"a name with a compression pointer to itself": {msg: with(func(b []byte) []byte { return append(b[:12], 0xc0, 12, 0, 1, 0, 1) }), rcode: dns.RcodeFormatError},
		"a label of 64 octets":                        {msg: with(func(b []byte) []byte { b[12] = 64; return append(b, make([]byte, 100)...) }), rcode: dns.RcodeFormatError},
		"a name of 256 octets": {msg: with(func(b []byte) []byte {
			return append(append(b[:12], bytes.Repeat([]byte("\x03aaa"), 64)...), 0, 0, 1, 0, 1)
		}), rcode: dns.RcodeFormatError},
		"a name of 254 octets, which is no 255th over": {msg: with(func(b []byte) []byte {
			return append(append(b[:12], bytes.Repeat([]byte("\x0aaaaaaaaaaa"), 23)...), 0, 0, 1, 0, 1)
		})},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			var q query
			rcode, drop := parseQuery(test.msg, &q)
			if rcode != test.rcode || drop != test.drop {
				t.Errorf("rcode %d, drop %v; want %d, %v", rcode, drop, test.rcode, test.drop)
			}
		})
	}
}

func TestParseQueryReadsEDNS(t *testing.T) {
	for size, want := range map[uint16]uint16{0: 512, 100: 512, 512: 512, 1232: 1232, 65535: 65535} {
		var q query
		parseQuery(packed(t, question1("a.test", dns.TypeA).SetEdns0(size, true)), &q)
		if !q.edns || !q.do || q.size != want {
			t.Errorf("size %d: %+v", size, q)
		}
	}
}

func TestReverseNames(t *testing.T) {
	tests := map[string]string{
		"66.113.0.203.in-addr.arpa":   "203.0.113.66",
		"113.0.203.in-addr.arpa":      "",
		"256.113.0.203.in-addr.arpa":  "",
		"1.66.113.0.203.in-addr.arpa": "",
		"x.113.0.203.in-addr.arpa":    "",
		"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa":  "2001:db8::1",
		"10.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa": "",
		"in-addr.arpa": "",
		"allowed.test": "",
	}
	for text, want := range tests {
		a, ok := reverseAddr(text)
		if ok != (want != "") || ok && a.String() != want {
			t.Errorf("%s: %v %v, want %q", text, a, ok, want)
		}
		if ok {
			if back, _ := dns.ReverseAddr(want); back != text+"." {
				t.Errorf("%s: %s the other way", text, back)
			}
		}
	}
}

// FuzzQuery sends anything to a server whose upstream must never be asked.
func FuzzQuery(f *testing.F) {
	f.Add(packed(f, question1("denied.test", dns.TypeA)))
	f.Add(packed(f, question1("denied.test", dns.TypeHTTPS).SetEdns0(1232, true)))
	f.Add(packed(f, question1("0xA9FEA9FE", dns.TypeA)))
	f.Add(packed(f, question1(".", dns.TypeNS)))
	f.Add(packed(f, question1(`a\.b.test`, dns.TypeA)))
	f.Add(packed(f, question1("66.113.0.203.in-addr.arpa", dns.TypePTR)))
	f.Add(packed(f, question1("metadata.google.internal", dns.TypeANY)))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Add([]byte{})
	r := newRig(f, func(_ int, q asked) *dns.Msg {
		panic("asked about " + q.Name)
	}, "allowed.test")
	f.Fuzz(func(t *testing.T, msg []byte) {
		var q query
		for _, stream := range []bool{false, true} {
			out, later, name := r.reply(r.turn(), msg, &q, stream, nil)
			if later {
				if name.String() != "allowed.test" {
					t.Fatalf("%v would be asked", name)
				}
				continue
			}
			checkReply(t, msg, out, q.limit(stream))
		}
	})
}

// checkReply checks what any answer must be: none, or a well-formed one to that query.
func checkReply(t *testing.T, msg, out []byte, limit int) {
	t.Helper()
	if out == nil {
		return
	}
	m := new(dns.Msg)
	if err := m.Unpack(out); err != nil {
		t.Fatalf("the answer %x can't be read: %v", out, err)
	}
	if !m.Response || m.Id != binary.BigEndian.Uint16(msg) || len(out) > limit {
		t.Fatalf("%d octets of %d: %v", len(out), limit, m)
	}
	if len(m.Question) == 1 && !bytes.HasPrefix(msg[headerLen:], out[headerLen:plainNameEnd(out, headerLen)+4]) {
		t.Fatalf("the question isn't the client's: %v", m)
	}
	for _, rr := range m.Answer {
		if rr.Header().Ttl > ttlFixed {
			t.Fatalf("a TTL of %d", rr.Header().Ttl)
		}
	}
}

// FuzzAnswer gives the resolver anything for an answer, once it bears the right id and question.
func FuzzAnswer(f *testing.F) {
	q := question{name: name("allowed.test"), qtype: dns.TypeHTTPS}
	a := newAsk(q, true)
	reply := func(records ...string) []byte {
		m := new(dns.Msg).SetReply(question1("allowed.test", dns.TypeHTTPS))
		for _, text := range records {
			m.Answer = append(m.Answer, mustRR(text))
		}
		return packed(f, m)[len(a.msg)-optLen:]
	}
	f.Add(uint16(bitQR), uint16(1), uint16(0), uint16(0), reply("allowed.test. 60 IN A 203.0.113.10"))
	f.Add(uint16(bitQR), uint16(1), uint16(0), uint16(0), reply(`allowed.test. 60 IN HTTPS 1 . alpn="h2,h3" ech="AAAA" ipv4hint=203.0.113.1`))
	f.Add(uint16(bitQR|3), uint16(0), uint16(1), uint16(0), []byte{0, 0, 6, 0, 1})
	f.Fuzz(func(t *testing.T, bits, answers, authority, additional uint16, rest []byte) {
		msg := bytes.Clone(a.msg[:len(a.msg)-optLen])
		binary.BigEndian.PutUint16(msg[2:], bits&^maskOpcode|bitQR)
		for i, n := range []uint16{answers, authority, additional} {
			binary.BigEndian.PutUint16(msg[6+2*i:], n)
		}
		msg = append(msg, rest...)
		if !a.answers(msg) {
			t.Fatal("it isn't taken for the answer")
		}
		m, err := readMessage(bytes.Clone(msg))
		if err != nil {
			return
		}
		now := time.Now()
		ans, err := newAnswer(q, m, now)
		if err != nil {
			return
		}
		readable := new(dns.Msg).Unpack(msg) == nil
		client := question1("AllOwed.test", dns.TypeHTTPS).SetEdns0(512, true)
		raw := packed(t, client)
		var parsed query
		parseQuery(raw, &parsed)
		for _, limit := range []int{512, dns.MaxMsgSize} {
			out := ans.to(&parsed, nil, limit, now.Add(time.Hour))
			if _, err := readMessage(out); err != nil || len(out) > limit || binary.BigEndian.Uint16(out) != client.Id {
				t.Fatalf("%d octets of %d, %v: %x", len(out), limit, err, out)
			}
			back := new(dns.Msg)
			err := back.Unpack(out)
			if readable && err != nil || len(back.Question) > 0 && back.Question[0] != client.Question[0] {
				t.Fatalf("it was readable and became %x: %v", out, err)
			}
			for _, rr := range back.Answer {
				if s := service(rr); s != nil && hasHidden(s) {
					t.Fatalf("it still hides: %v", rr)
				}
			}
		}
	})
}

func hasHidden(s *dns.SVCB) bool {
	for _, v := range s.Value {
		if hides(v) {
			return true
		}
	}
	return false
}

func FuzzFiles(f *testing.F) {
	f.Add([]byte("nameserver 192.0.2.1\nnameserver fe80::1%eth0\nsearch a.test b.test\noptions ndots:5 timeout:1 rotate use-vc\n"))
	f.Add([]byte("127.0.0.1 localhost # here\n::1 localhost ip6-localhost\n203.0.113.1\ta.test b.test\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := parseResolvConf(data)
		if len(c.servers) == 0 || len(c.servers) > maxServers || c.timeout < time.Second || c.timeout > maxTimeout ||
			c.attempts < 1 || c.attempts > maxAttempts || c.ndots < 0 || c.ndots > maxNdots || len(c.search) > maxSearch {
			t.Errorf("%+v", c)
		}
		for n, addrs := range parseHosts(data) {
			if n == (policy.Name{}) || len(addrs) == 0 {
				t.Errorf("%v %v", n, addrs)
			}
		}
	})
}
