package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

// patience bounds a client's wait for a connection, and what it waits for past its time.
const patience = 5 * time.Second

// enoughFailures ends a client that does nothing but fail.
const enoughFailures = 1000

// options are those of a client that runs for a while.
type options struct {
	flags    *flag.FlagSet
	length   time.Duration
	parallel int
	end      time.Time // when the clock stops, once it runs
}

func newOptions(name string) *options {
	o := &options{flags: flag.NewFlagSet(name, flag.ContinueOnError)}
	o.flags.DurationVar(&o.length, "for", time.Second, "how long")
	o.flags.IntVar(&o.parallel, "parallel", 1, "how many at a time")
	return o
}

// target parses the flags, and looks up the address that is their last argument's.
func (o *options) target(args []string) (netip.AddrPort, error) {
	if err := o.flags.Parse(args); err != nil {
		return netip.AddrPort{}, err
	}
	return resolve(o.flags.Arg(0))
}

// resolve looks up HOST:PORT, where HOST isn't an address already.
func resolve(target string) (netip.AddrPort, error) {
	host, digits, err := net.SplitHostPort(target)
	if err != nil {
		return netip.AddrPort{}, err
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(a, uint16(port)), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.AddrPortFrom(addrs[0].Unmap(), uint16(port)), nil
}

// dial makes one connection to an address, on which nothing is waited for past a time; the zero time is never.
func dial(to netip.AddrPort, until time.Time) (*net.TCPConn, error) {
	d := net.Dialer{Timeout: patience, KeepAlive: -1}
	c, err := d.Dial("tcp", to.String())
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), c.SetDeadline(until)
}

// late is when nothing is waited for any more.
func (o *options) late() time.Time { return o.end.Add(patience) }

// tally is what one of several workers has done.
type tally struct {
	times  []time.Duration // of those that went through
	failed int
	err    error // the last failure
}

// add counts one that took so long, or failed.
func (t *tally) add(took time.Duration, err error) {
	if err != nil {
		t.failed, t.err = t.failed+1, err
		return
	}
	t.times = append(t.times, took)
}

// workers runs so many workers at the same time for a while, and adds up what they did. A worker does until over reports true.
func (o *options) workers(work func(n int, t *tally, over func() bool)) (Result, error) {
	tallies := make([]tally, o.parallel)
	var running sync.WaitGroup
	start := time.Now()
	o.end = start.Add(o.length)
	for i := range tallies {
		t := &tallies[i]
		running.Go(func() {
			work(i, t, func() bool { return t.failed >= enoughFailures || !time.Now().Before(o.end) })
		})
	}
	running.Wait()
	return sum(tallies, time.Since(start))
}

func sum(tallies []tally, took time.Duration) (Result, error) {
	var all tally
	for _, t := range tallies {
		all.times = append(all.times, t.times...)
		all.failed += t.failed
		if t.err != nil {
			all.err = t.err
		}
	}
	n := len(all.times)
	if n == 0 {
		return Result{}, fmt.Errorf("not one went through, %d failed: %w", all.failed, all.err)
	}
	slices.Sort(all.times)
	return Result{
		Rate: float64(n) / took.Seconds(), P50: all.times[n/2].Seconds(), P99: all.times[n*99/100].Seconds(), Failed: all.failed,
	}, nil
}
