package dnsproxy

import (
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestServicesLoseWhatHides(t *testing.T) {
	const ech = ` ech="AEX+DQBB"`
	tests := map[string]struct {
		records []string
		want    string
		addrs   string
	}{
		"the key of an encrypted ClientHello goes":   {[]string{`1 . alpn="h2"` + ech}, `NOERROR, HTTPS 1 . alpn="h2"`, ""},
		"HTTP/3 goes, and its drafts":                {[]string{`1 . alpn="h3,h2,h3-29,http/1.1"`}, `NOERROR, HTTPS 1 . alpn="h2,http/1.1"`, ""},
		"what merely begins like it stays":           {[]string{`1 . alpn="h33,h2"`}, `NOERROR, HTTPS 1 . alpn="h33,h2"`, ""},
		"without another protocol it is the default": {[]string{`1 . alpn="h3" port=8443`}, `NOERROR, HTTPS 1 . port="8443"`, ""},
		"where there is no default the record goes":  {[]string{`1 . alpn="h3" no-default-alpn=""`}, `NOERROR`, ""},
		"and leaves the others": {[]string{`1 . alpn="h3" no-default-alpn=""`, `2 b.test. alpn="h2"`},
			`NOERROR, HTTPS 2 b.test. alpn="h2"`, ""},
		"a default that isn't stays not":                      {[]string{`1 . alpn="h3,h2" no-default-alpn=""`}, `NOERROR, HTTPS 1 . alpn="h2" no-default-alpn=""`, ""},
		"what is gone is no longer mandatory":                 {[]string{`1 . mandatory="alpn,ech" alpn="h3,h2"` + ech}, `NOERROR, HTTPS 1 . mandatory="alpn" alpn="h2"`, ""},
		"and nothing is if nothing is left":                   {[]string{`1 . mandatory="alpn,ech" alpn="h3"` + ech}, `NOERROR, HTTPS 1 .`, ""},
		"hints stay, and are the name's addresses":            {[]string{`1 . alpn="h3,h2" ipv4hint="203.0.113.1,203.0.113.2" ipv6hint="2001:db8::1"` + ech}, `NOERROR, HTTPS 1 . alpn="h2" ipv4hint="203.0.113.1,203.0.113.2" ipv6hint="2001:db8::1"`, "203.0.113.1 203.0.113.2 2001:db8::1"},
		"those of a record that isn't changed are too":        {[]string{`1 . alpn="h2" ipv4hint="203.0.113.1"`}, `NOERROR, HTTPS 1 . alpn="h2" ipv4hint="203.0.113.1"`, "203.0.113.1"},
		"an alias stays as it is":                             {[]string{`0 b.test.`}, `NOERROR, HTTPS 0 b.test.`, ""},
		"parameters that nobody here knows stay as they came": {[]string{`1 . key65333="x"` + ech}, `NOERROR, HTTPS 1 . key65333="x"`, ""},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			q := question{name: name("a.test"), qtype: dns.TypeHTTPS}
			m := new(dns.Msg).SetReply(question1("a.test", dns.TypeHTTPS))
			for _, text := range test.records {
				m.Answer = append(m.Answer, mustRR("a.test. 60 IN HTTPS "+text))
			}
			got, a := through(t, q, packed(t, m))
			if said(got) != test.want || addrsText(a.addrs) != test.addrs {
				t.Errorf("%s, %v; want %s, %s", said(got), a.addrs, test.want, test.addrs)
			}
		})
	}
}

// through makes an answer of a server's message, and writes it to a client.
func through(t *testing.T, q question, wire []byte) (*dns.Msg, *answer) {
	t.Helper()
	m, err := readMessage(wire)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a, err := newAnswer(q, m, now)
	if err != nil {
		t.Fatal(err)
	}
	got := new(dns.Msg)
	if err := got.Unpack(a.to(&query{name: appendWire(nil, q.name), size: 4096}, nil, 4096, now)); err != nil {
		t.Fatal(err)
	}
	return got, a
}

func TestServicesThatCanNotBeReadAreNone(t *testing.T) {
	m := new(dns.Msg).SetReply(question1("a.test", dns.TypeHTTPS))
	m.Answer = append(m.Answer, mustRR(`a.test. 60 IN HTTPS 1 . alpn="h2"`))
	wire := packed(t, m)
	wire[len(wire)-3] = 200 // a protocol longer than the record
	got, _ := through(t, question{name: name("a.test"), qtype: dns.TypeHTTPS}, wire)
	if said(got) != "NOERROR" {
		t.Error(said(got))
	}
}

func TestAnAnswerIsPassedOnOctetForOctet(t *testing.T) {
	m := new(dns.Msg).SetReply(question1("a.test", dns.TypeANY))
	m.RecursionAvailable = true
	for _, text := range []string{"A.test. 60 IN A 203.0.113.1", `a.test. 60 IN TXT "x"`, `a.test. 60 IN TYPE65280 \# 2 c00c`,
		"a.test. 60 IN NSEC3PARAM 1 0 0 -", "a.test. 60 CH A 203.0.113.2"} {
		rr, err := dns.NewRR(text)
		if err != nil {
			t.Fatal(err)
		}
		m.Answer = append(m.Answer, rr)
	}
	m.Compress = true
	wire := packed(t, m)
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = append(m.IsEdns0().Option, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef"})
	r, err := readMessage(packed(t, m))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a, err := newAnswer(question{name: name("a.test"), qtype: dns.TypeANY}, r, now)
	if err != nil {
		t.Fatal(err)
	}
	q := &query{id: m.Id, bits: bitRD, name: appendWire(nil, name("a.test")), size: 4096}
	if got := a.to(q, nil, 4096, now); string(got) != string(wire) {
		t.Errorf("%x, want %x", got, wire)
	}
	if addrsText(a.addrs) != "203.0.113.1" {
		t.Errorf("addresses %v", a.addrs)
	}
}
