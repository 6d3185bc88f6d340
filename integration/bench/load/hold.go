package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"time"
)

// hold opens connections up to each of the counts, prints the count, and waits for a line of input.
func hold(args []string) error {
	to, err := resolve(args[0])
	if err != nil {
		return err
	}
	input := bufio.NewReader(os.Stdin)
	var open []*net.TCPConn
	for _, arg := range args[1:] {
		count, err := strconv.Atoi(arg)
		if err != nil {
			return err
		}
		more, err := openMany(to, count-len(open))
		if err != nil {
			return err
		}
		open = append(open, more...)
		fmt.Println(len(open))
		if _, err := input.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}

// last opens connections, prints "open", and prints the time (in nanoseconds since 1970) when the last of them was ended.
func last(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: load last HOST:PORT COUNT")
	}
	to, err := resolve(args[0])
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	open, err := openMany(to, count)
	if err != nil {
		return err
	}
	fmt.Println("open")
	var ended sync.WaitGroup
	for _, c := range open {
		ended.Go(func() { c.Read(make([]byte, 1)) })
	}
	ended.Wait()
	fmt.Println(time.Now().UnixNano())
	return nil
}

// opening is how many connections are opened at a time.
const opening = 32

// openMany opens count connections on which an octet has gone to the server and has come back.
func openMany(to netip.AddrPort, count int) ([]*net.TCPConn, error) {
	open := make([]*net.TCPConn, count)
	errs := make([]error, opening)
	var running sync.WaitGroup
	for w := range opening {
		running.Go(func() {
			for i := w; i < count && errs[w] == nil; i += opening {
				open[i], errs[w] = openOne(to)
			}
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("opening %d connections: %w", count, err)
		}
	}
	return open, nil
}

func openOne(to netip.AddrPort) (*net.TCPConn, error) {
	c, err := dial(to, time.Time{})
	if err != nil {
		return nil, err
	}
	buf := []byte{ping}
	if _, err := c.Write(buf); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(c, buf); err != nil {
		return nil, err
	}
	return c, nil
}
