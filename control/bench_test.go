package control

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"lnk/settings"

	"golang.org/x/sys/unix"
)

func benchmarkHome(b *testing.B) settings.Home {
	b.Helper()
	home, err := settings.At(filepath.Join(b.TempDir(), "home", "user", ".lnk"))
	if err == nil {
		err = home.Ensure()
	}
	if err != nil {
		b.Fatal(err)
	}
	return home
}

func benchmarkGate(b *testing.B, home settings.Home) *Gate {
	b.Helper()
	g, err := NewGate(home, box)
	if err != nil {
		b.Fatal(err)
	}
	// Settings are nearly always older than that: a look asks less of folders that didn't change for a second.
	<-time.After(1100 * time.Millisecond)
	g.Look()
	return g
}

func benchmarkLook(b *testing.B, want Cause, before func(settings.Home) error) {
	home := benchmarkHome(b)
	if err := before(home); err != nil {
		b.Fatal(err)
	}
	g := benchmarkGate(b, home)
	b.ReportAllocs()
	used := processorTime(b)
	for b.Loop() {
		if s := g.Look(); s.Cause != want {
			b.Fatalf("the gate is %+v", s)
		}
	}
	b.ReportMetric(float64(processorTime(b)-used)/float64(b.N), "cpu-ns/op")
}

func BenchmarkLookOpen(b *testing.B) {
	benchmarkLook(b, CauseOpen, func(settings.Home) error { return nil })
}

func BenchmarkLookStopped(b *testing.B) { benchmarkLook(b, CauseStopped, Stop) }

func BenchmarkLookPaused(b *testing.B) {
	benchmarkLook(b, CausePaused, func(h settings.Home) error { return Pause(h, box, "lunch", "ada") })
}

func BenchmarkLookUnreadable(b *testing.B) {
	benchmarkLook(b, CauseUnreadable, func(h settings.Home) error { return os.RemoveAll(h.Dir()) })
}

func BenchmarkLookFromManyCalls(b *testing.B) {
	g := benchmarkGate(b, benchmarkHome(b))
	b.ReportAllocs()
	b.SetParallelism(100)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if s := g.Look(); !s.Open() {
				b.Errorf("the gate is %+v", s)
				return
			}
		}
	})
}

func BenchmarkRefused(b *testing.B) {
	g := benchmarkGate(b, benchmarkHome(b))
	now := time.Unix(0, 0)
	w, err := NewWatch(g, WatchOptions{Now: func() time.Time { now = now.Add(3 * time.Second); return now }})
	if err != nil {
		b.Fatal(err)
	}
	hosts := make([]string, 19)
	for i := range hosts {
		hosts[i] = "host" + strconv.Itoa(i) + ".test"
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Refused(hosts[i%len(hosts)], 443)
	}
	if !g.Look().Open() {
		b.Fatal("paused")
	}
}

// BenchmarkFiftyIdleGates says how much of one processor fifty watched gates take while nothing happens.
func BenchmarkFiftyIdleGates(b *testing.B) {
	home := benchmarkHome(b)
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	gates := make([]*Gate, 50)
	for i := range gates {
		var err error
		if gates[i], err = NewGate(home, box); err != nil {
			b.Fatal(err)
		}
	}
	benchmarkGate(b, home)
	for _, g := range gates {
		wg.Go(func() { g.Watch(ctx, 0, func(State) {}) })
	}
	begin, before := time.Now(), processorTime(b)
	for b.Loop() {
		<-time.After(time.Second)
	}
	used, took := processorTime(b)-before, time.Since(begin)
	cancel()
	wg.Wait()
	b.ReportMetric(100*float64(used)/float64(took), "%cpu")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
