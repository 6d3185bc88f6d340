package wirelog

import (
	"testing"
	"time"
)

func benchWrite(b *testing.B, size int64, write func(l *Log, r Record)) {
	l := open(b, logPath(b), Options{Sandbox: box, Now: newClock(time.Second).now, MaxSize: size})
	r := Record{Verb: Connect, Target: HostPort("api.github.com", 443), Outcome: Ended, Out: 1834, In: 20117}
	b.ReportAllocs()
	for b.Loop() {
		write(l, r)
	}
}

// A line, no rotation: the cost of a call in the log.
func BenchmarkWrite(b *testing.B) {
	benchWrite(b, 1<<40, func(l *Log, r Record) { must(b, l.Write(r)) })
}

// A line with the rotations that come with it, one in 80,000 lines.
func BenchmarkWriteAndRotate(b *testing.B) {
	benchWrite(b, 0, func(l *Log, r Record) { must(b, l.Write(r)) })
}

// A line that is left out.
func BenchmarkLeftOut(b *testing.B) {
	l := open(b, logPath(b), Options{Sandbox: box, Now: newClock(0).now})
	b.ReportAllocs()
	for b.Loop() {
		must(b, l.Write(rec("a")))
	}
}
