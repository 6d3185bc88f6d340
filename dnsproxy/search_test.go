package dnsproxy

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestSearch(t *testing.T) {
	zone := script("db.corp.test. 60 IN A 203.0.113.5", "web.lab.test. 60 IN A 203.0.113.6", "top. 60 IN A 203.0.113.7",
		"svc.ns.corp.test. 60 IN A 203.0.113.8", "v4only.corp.test. 60 IN A 203.0.113.9", "full.test. 60 IN A 203.0.113.10",
		"metadata.google.internal. 60 IN A 169.254.169.254")
	tests := map[string]struct {
		options string
		name    string
		qtype   uint16
		want    string
		asked   []string
	}{
		"a single label is completed from the search list": {name: "db", qtype: dns.TypeA,
			want: "NOERROR, CNAME db.corp.test., A 203.0.113.5", asked: []string{"db.corp.test. A"}},
		"domain by domain": {name: "web", qtype: dns.TypeA,
			want: "NOERROR, CNAME web.lab.test., A 203.0.113.6", asked: []string{"web.corp.test. A", "web.lab.test. A"}},
		"and asked as it is at last": {name: "top", qtype: dns.TypeA,
			want: "NOERROR, A 203.0.113.7", asked: []string{"top.corp.test. A", "top.lab.test. A", "top. A"}},
		"one that is there without such a record has none": {name: "v4only", qtype: dns.TypeAAAA,
			want: "NOERROR", asked: []string{"v4only.corp.test. AAAA", "v4only.lab.test. AAAA", "v4only. AAAA"}},
		"one that is nowhere isn't there": {name: "gone", qtype: dns.TypeA,
			want: "NXDOMAIN", asked: []string{"gone.corp.test. A", "gone.lab.test. A", "gone. A"}},
		"a name with a dot is asked as it is": {name: "svc.ns", qtype: dns.TypeA,
			want: "NXDOMAIN", asked: []string{"svc.ns. A"}},
		"and completed if it isn't there and has fewer dots than ndots": {options: "ndots:2", name: "svc.ns", qtype: dns.TypeA,
			want: "NOERROR, CNAME svc.ns.corp.test., A 203.0.113.8", asked: []string{"svc.ns. A", "svc.ns.corp.test. A"}},
		"one that is there isn't completed, whatever ndots says": {options: "ndots:5", name: "full.test", qtype: dns.TypeA,
			want: "NOERROR, A 203.0.113.10", asked: []string{"full.test. A"}},
		"ndots of 0 completes nothing": {options: "ndots:0", name: "db", qtype: dns.TypeA, want: "NXDOMAIN", asked: []string{"db. A"}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			r := newRig(t, zone, test.name).serve(t)
			write(t, r.resolvConf, "nameserver 127.0.0.1\nsearch corp.test lab.test google.internal\noptions "+test.options+"\n")
			m := r.ask(t, test.name, test.qtype)
			if got := said(m); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			asked := slices.DeleteFunc(r.up.names(), func(s string) bool { return strings.Contains(s, "google.internal") })
			if !slices.Equal(asked, test.asked) {
				t.Errorf("asked %q, want %q", asked, test.asked)
			}
			if len(m.Answer) > 0 && len(r.Book.Addrs(name(test.name))) == 0 {
				t.Error("its address isn't in the book under the name that was asked")
			}
		})
	}
}

func TestTheSearchListMakesNoMetadataName(t *testing.T) {
	r := newRig(t, script("metadata.google.internal. 60 IN A 169.254.169.254"), "instance-data").serve(t)
	write(t, r.resolvConf, "nameserver 127.0.0.1\nsearch ec2.internal\n")
	r.ask(t, "instance-data", dns.TypeA)
	for _, n := range r.up.names() {
		if strings.HasPrefix(n, "instance-data.ec2.internal") {
			t.Errorf("asked %s", n)
		}
	}
}
