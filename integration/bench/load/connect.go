package main

import (
	"errors"
	"io"
	"net/netip"
	"time"
)

// connect makes one connection after the other. One is made when an octet has gone to the server and its own has come
// back: a relay may accept long before it has reached anyone.
func connect(args []string) (Result, error) {
	o := newOptions("connect")
	to, err := o.target(args)
	if err != nil {
		return Result{}, err
	}
	return o.workers(func(_ int, t *tally, over func() bool) {
		for !over() {
			t.add(oneConnection(to, o.late()))
		}
	})
}

// ping is the octet that goes there and back. Nothing that is sniffed for begins so.
const ping = 1

// oneConnection tells how long it took to the answer. The server ends the connection, and its end is waited for.
func oneConnection(to netip.AddrPort, late time.Time) (time.Duration, error) {
	start := time.Now()
	c, err := dial(to, late)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	buf := []byte{ping}
	if _, err := c.Write(buf); err != nil {
		return 0, err
	}
	if _, err := io.ReadFull(c, buf); err != nil {
		return 0, err
	}
	took := time.Since(start)
	if n, err := c.Read(buf); n > 0 || !errors.Is(err, io.EOF) {
		return 0, errors.Join(errors.New("the connection didn't end with the server's answer"), err)
	}
	return took, nil
}
