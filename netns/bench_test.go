package netns

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"
)

// BenchmarkRun is a whole life: clone, room, program, end. Compare with `bwrap --unshare-all --dev-bind / / true`.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		if err := benchmarkPlan([]string{"true"}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIdle reports what init of a running room takes, in proportion to who shares it (proc_pid_smaps(5)). This test
// binary isn't lnk, so it is of use only in comparison with itself.
func BenchmarkIdle(b *testing.B) {
	for b.Loop() {
		in, hold, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		err = benchmarkPlan([]string{"cat"}, func(l *Launch) {
			b.ReportMetric(float64(pss(b, l.PID())), "KiB-init")
			b.ReportMetric(float64(pss(b, os.Getpid())), "KiB-launcher")
			hold.Close()
		}, in)
		if err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkPlan(argv []string, running func(*Launch), stdin ...*os.File) error {
	o := Options{Stdout: os.Stdout, Stderr: os.Stderr}
	if len(stdin) > 0 {
		o.Stdin = stdin[0]
	}
	l, err := Start(o)
	if err != nil {
		return err
	}
	defer l.Close()
	for _, f := range stdin {
		f.Close()
	}
	groups, err := os.Getgroups()
	if err != nil {
		return err
	}
	room, err := l.Build(Plan{
		Argv: argv, Env: os.Environ(), User: Identity{os.Geteuid(), os.Getegid(), groups},
		ResolvConf: []byte("nameserver 198.18.0.2\n"), Hosts: []byte("127.0.0.1 localhost\n"),
	})
	if err != nil {
		return err
	}
	defer room.close()
	if err := l.Go(); err != nil {
		return err
	}
	if running != nil {
		running(l)
	}
	_, err = l.Wait()
	return err
}

// pss is a process' proportional set size in KiB.
func pss(b *testing.B, pid int) int {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range bytes.Lines(rollup) {
		fields := bytes.Fields(line)
		if len(fields) > 1 && string(fields[0]) == "Pss:" {
			n, err := strconv.Atoi(string(fields[1]))
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatal("no Pss")
	return 0
}
