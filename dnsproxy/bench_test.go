package dnsproxy

import (
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// BenchmarkReply is the work for one query, without its system calls.
func BenchmarkReply(b *testing.B) {
	r := newRig(b, world, "allowed.test", "*.wild.test", "alias.test", "api.example.test:22").serve(b)
	r.ask(b, "allowed.test", dns.TypeA)
	for what, n := range map[string]string{"cached": "allowed.test", "refused": "x.evil.test", "fixed": "host.lnk.internal"} {
		b.Run(what, func(b *testing.B) {
			msg := packed(b, question1(n, dns.TypeA).SetEdns0(1232, false))
			t := r.turn()
			buf := make([]byte, 0, 512)
			var q query
			b.ReportAllocs()
			for b.Loop() {
				r.reply(t, msg, &q, false, buf)
			}
		})
	}
	b.Run("turn", func(b *testing.B) {
		for b.Loop() {
			r.turn()
		}
	})
}

// BenchmarkLookup is a lookup over loopback, from many clients at once; the upstream of the uncached ones is in this process too.
func BenchmarkLookup(b *testing.B) {
	r := newRig(b, func(_ int, q asked) *dns.Msg {
		m := new(dns.Msg).SetReply(q.msg)
		m.Answer = append(m.Answer, mustRR(q.Name+" 60 IN A 203.0.113.1"))
		return m
	}, "*.test").serve(b)
	for _, what := range []string{"cached", "uncached"} {
		b.Run(what, func(b *testing.B) {
			var count atomic.Int64
			b.SetParallelism(32)
			b.RunParallel(func(p *testing.PB) {
				c, err := net.Dial("udp", r.udp)
				if err != nil {
					b.Error(err)
					return
				}
				defer c.Close()
				buf := make([]byte, 512)
				for p.Next() {
					i := count.Add(1)
					if what == "cached" {
						i %= 100
					}
					msg := packed(b, question1(fmt.Sprintf("n%d.%s.test", i, what), dns.TypeA))
					c.SetDeadline(time.Now().Add(10 * time.Second))
					c.Write(msg)
					if _, err := c.Read(buf); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
