package main

import (
	"context"
	"fmt"
	"time"

	"lnk/control"
	"lnk/integration/internet"
	"lnk/settings"
	"lnk/wirelog"
)

// costs measures what every call pays for the gate and for the log, in this process, with the files where lnk has them.
func (b *bench) costs(context.Context) error {
	fmt.Printf("\nWhat a call pays\n")
	home, err := settings.At(internet.Root.Settings())
	if err != nil {
		return err
	}
	if err := home.Ensure(); err != nil {
		return err
	}
	name, err := settings.ParseName("cost")
	if err != nil {
		return err
	}
	gate, err := control.NewGate(home, name)
	if err != nil {
		return err
	}
	look, err := b.perOperation(func() error {
		if s := gate.Look(); !s.Open() {
			return fmt.Errorf("the gate isn't open: %s", s.Why)
		}
		return nil
	})
	if err != nil {
		return err
	}
	printGoal("the gate, one look", fmt.Sprintf("%.1f µs", look*1e6), "< 20 µs")
	return b.logging(home, name)
}

// logging measures a line that is written, and one that is left out because the minute's are written: a call has two.
func (b *bench) logging(home settings.Home, name settings.Name) error {
	now := time.Now()
	written, err := b.logLine(home, name, func() time.Time { now = now.Add(time.Second); return now })
	if err != nil {
		return err
	}
	leftOut, err := b.logLine(home, name, time.Now)
	if err != nil {
		return err
	}
	b.printLine("the log, a line written", written)
	b.printLine("the log, a line left out", leftOut)
	return nil
}

func (b *bench) logLine(home settings.Home, name settings.Name, now func() time.Time) (float64, error) {
	log, err := wirelog.Open(home.Log(), wirelog.Options{Sandbox: name, Now: now})
	if err != nil {
		return 0, err
	}
	defer log.Close()
	r := wirelog.Record{Verb: wirelog.TCP, Target: wirelog.HostPort(serverName, portConnect), Outcome: wirelog.Ended, Out: 1, In: 1}
	return b.perOperation(func() error { return log.Write(r) })
}

// printLine prints what a line takes, and what the two of a call are of the time that a call takes, many at a time.
func (b *bench) printLine(what string, seconds float64) {
	text := fmt.Sprintf("%.1f µs", seconds*1e6)
	if b.perCall > 0 {
		text += fmt.Sprintf("; two are %.1f %% of a call", 200*seconds/b.perCall)
	}
	printGoal(what, text, "< 5 % of a call")
}

// perOperation is the median, over rounds, of the time that f takes.
func (b *bench) perOperation(f func() error) (float64, error) {
	const many = 2000
	var values []float64
	for range b.rounds {
		start := time.Now()
		for range many {
			if err := f(); err != nil {
				return 0, err
			}
		}
		values = append(values, time.Since(start).Seconds()/many)
	}
	return median(values), nil
}
