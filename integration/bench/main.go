// Command bench measures what lnk costs, on a machine and an internet of its own in network namespaces. It needs root.
//
// What it prints are ratios, each the median over rounds in which all contenders took part one after the other: direct, lnk, the
// peers, direct, lnk and so on. So a machine that is busy with something else, or slow, shows in the figures beside them rather than in the
// ratios. The targets stand beside the ratios; nothing here passes or fails by the clock. A peer that isn't installed is left out.
//
// Client, what is measured and server share the machine's processors, so a relay that costs as much as either end halves what a direct
// connection reaches.
//
//	[room: client] ── lnk or a peer ── [machine] ──veth── [internet: servers]
//
// lnk runs as root does. A peer that can is put in lnk's place: its listener in a room laid with the same links and the same
// table as lnk's (package nft), itself on the machine. Everything is gone with this program, however it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"lnk/integration/internet"
)

// options are what the command line says.
type options struct {
	rounds  int           // of most measures
	length  time.Duration // of one contender's turn
	starts  int           // rounds of starting a program
	only    []string      // the measures wanted; empty for all
	timeout time.Duration
}

func main() {
	s := flags()
	internet.Enter(
		internet.Tool{Name: "lnk", Package: "lnk/cmd/lnk"},
		internet.Tool{Name: "load", Package: "lnk/integration/bench/load"},
	)
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func flags() options {
	s := options{rounds: 5, length: time.Second, starts: 31, timeout: 15 * time.Minute}
	quick := flag.Bool("quick", false, "a minute's run, with wider errors")
	only := flag.String("only", "", "only these measures, by comma: "+strings.Join(measureNames(), ", "))
	flag.Parse()
	if *quick {
		s.rounds, s.length, s.starts = 3, 300*time.Millisecond, 9
	}
	if *only != "" {
		s.only = strings.Split(*only, ",")
	}
	for _, name := range s.only {
		if !slices.Contains(measureNames(), name) {
			fmt.Fprintf(os.Stderr, "bench: no such measure: %s\n", name)
			os.Exit(2)
		}
	}
	return s
}

// bench is one run.
type bench struct {
	options
	internet *space
	relay    *place // haproxy, once it is there
	failures []error
	// descriptors is how many each process may have.
	descriptors uint64
	// perCall is how long lnk takes for one of many connections at a time, in seconds; 0 until it was measured.
	perCall float64
}

// parts are the measures, in the order of the run.
var parts = []struct {
	name string
	run  func(*bench, context.Context) error
}{
	{"start", (*bench).starting}, {"stream", (*bench).streams}, {"connect", (*bench).connections},
	{"http", (*bench).requests}, {"dns", (*bench).lookups}, {"memory", (*bench).memory},
	{"cost", (*bench).costs}, {"stop", (*bench).stopping},
}

func measureNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

func run(s options) error {
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	b := &bench{options: s}
	var err error
	if b.descriptors, err = manyDescriptors(); err != nil {
		return err
	}
	if err := b.lay(ctx); err != nil {
		return err
	}
	fmt.Printf("%d processors; ratios are medians of %d rounds of %s\n", runtime.NumCPU(), s.rounds, s.length)
	for _, p := range parts {
		if len(s.only) > 0 && !slices.Contains(s.only, p.name) {
			continue
		}
		if err := p.run(b, ctx); err != nil {
			b.failures = append(b.failures, fmt.Errorf("%s: %w", p.name, err))
			fmt.Printf("  failed: %v\n", err)
		}
	}
	fmt.Printf("\n%d seconds in all.\n", int(time.Since(start).Seconds()))
	return errors.Join(b.failures...)
}

// manyDescriptors lets this program's children have descriptors for 10,000 connections through lnk, or as many as may be had, and
// gives their number.
func manyDescriptors() (uint64, error) {
	const wanted = 1 << 16
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("reading the limit of descriptors: %w", err)
	}
	more := syscall.Rlimit{Cur: max(limit.Max, wanted), Max: max(limit.Max, wanted)}
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &more) == nil {
		return more.Cur, nil
	}
	limit.Cur = limit.Max // more than that takes CAP_SYS_RESOURCE
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("raising the limit of descriptors: %w", err)
	}
	return limit.Cur, nil
}
