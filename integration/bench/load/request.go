package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// request makes one HTTP request after the other on a connection that stays open, for as long as who answers keeps it so.
func request(args []string) (Result, error) {
	o := newOptions("http")
	proxy := o.flags.String("proxy", "", "an explicit proxy's address")
	to, err := o.target(args)
	if err != nil {
		return Result{}, err
	}
	target, door := "/", to
	if *proxy != "" {
		target = "http://" + o.flags.Arg(0) + "/"
		if door, err = netip.ParseAddrPort(*proxy); err != nil {
			return Result{}, err
		}
	}
	head := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: load\r\nAccept: */*\r\n\r\n", target, o.flags.Arg(0))
	return o.workers(func(_ int, t *tally, over func() bool) {
		p := page{door: door, late: o.late(), buf: make([]byte, 8<<10)}
		defer p.end()
		for !over() {
			start := time.Now()
			err := p.get(head)
			t.add(time.Since(start), err)
			if err != nil {
				p.end()
			}
		}
	})
}

// page reads answers off one connection at a time.
type page struct {
	door   netip.AddrPort
	late   time.Time // when nothing is waited for any more
	conn   *net.TCPConn
	buf    []byte
	closes bool // who answers ends the connection after an answer without having said so
}

func (p *page) end() {
	if p.conn != nil {
		p.conn.Close()
		p.conn = nil
	}
}

// get makes one request and reads the whole answer. A connection that turns out to have been ended after the last answer is
// made anew, and from then on after each.
func (p *page) get(head []byte) (err error) {
	kept := p.conn != nil
	if !kept {
		if p.conn, err = dial(p.door, p.late); err != nil {
			return err
		}
	}
	n, closing, err := p.exchange(head)
	if err != nil && kept && n == 0 {
		p.closes = true
		p.end()
		return p.get(head)
	}
	if closing || p.closes {
		p.end()
	}
	return err
}

// exchange sends a request and reads its answer. It tells how much of one came, and whether it says that it is the connection's last.
func (p *page) exchange(head []byte) (n int, closing bool, err error) {
	if _, err := p.conn.Write(head); err != nil {
		return 0, false, err
	}
	for length := -1; length < 0 || n < length; {
		if n == len(p.buf) {
			return n, false, errors.New("an answer longer than the buffer")
		}
		got, err := p.conn.Read(p.buf[n:])
		if n += got; err != nil {
			return n, false, fmt.Errorf("reading an answer: %w", err)
		}
		if length < 0 {
			if length, err = answerLength(p.buf[:n]); err != nil {
				return n, false, err
			}
		}
	}
	return n, bytes.Contains(bytes.ToLower(p.buf[:n]), lastAnswer), nil
}

// lastAnswer says that a connection ends with this message.
var lastAnswer = []byte("connection: close\r\n")

// answerLength is the length of a whole answer that begins so, head and body; -1 while its head isn't whole.
func answerLength(b []byte) (int, error) {
	head := bytes.Index(b, []byte("\r\n\r\n"))
	if head < 0 {
		return -1, nil
	}
	if !bytes.HasPrefix(b, []byte("HTTP/1.1 200")) && !bytes.HasPrefix(b, []byte("HTTP/1.0 200")) {
		line, _, _ := bytes.Cut(b, []byte("\r\n"))
		return 0, fmt.Errorf("answered %q", line)
	}
	_, after, found := bytes.Cut(bytes.ToLower(b[:head+2]), []byte("\r\ncontent-length: "))
	digits, _, whole := bytes.Cut(after, []byte("\r\n"))
	if !found || !whole {
		return 0, errors.New("an answer without a length")
	}
	body, err := strconv.Atoi(string(digits))
	return head + 4 + body, err
}
