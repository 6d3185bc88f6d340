package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// chunk is how much a stream's ends read and write at a time.
const chunk = 1 << 20

// stream carries as much as it can one way, on one connection.
func stream(args []string) (Result, error) {
	if len(args) == 0 || args[0] != "down" && args[0] != "up" {
		return Result{}, errors.New("usage: load stream down|up -for TIME HOST:PORT")
	}
	o := newOptions("stream")
	to, err := o.target(args[1:])
	if err != nil {
		return Result{}, err
	}
	c, err := dial(to, time.Now().Add(o.length+patience))
	if err != nil {
		return Result{}, err
	}
	defer c.Close()
	if args[0] == "up" {
		return o.upload(c)
	}
	return o.download(c)
}

// download counts from the first octets on.
func (o *options) download(c *net.TCPConn) (Result, error) {
	buf := make([]byte, chunk)
	if _, err := c.Read(buf); err != nil {
		return Result{}, fmt.Errorf("waiting for a download: %w", err)
	}
	start := time.Now()
	var total int
	for time.Since(start) < o.length {
		n, err := c.Read(buf)
		if err != nil {
			return Result{}, fmt.Errorf("downloading: %w", err)
		}
		total += n
	}
	r := Result{Rate: float64(total) / time.Since(start).Seconds()}
	c.SetLinger(0) // the rest of the stream is nobody's
	return r, nil
}

// upload counts what the server says that it has read, until it says so.
func (o *options) upload(c *net.TCPConn) (Result, error) {
	buf := make([]byte, chunk)
	start := time.Now()
	for time.Since(start) < o.length {
		if _, err := c.Write(buf); err != nil {
			return Result{}, fmt.Errorf("uploading: %w", err)
		}
	}
	if err := c.CloseWrite(); err != nil {
		return Result{}, err
	}
	var answer [8]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return Result{}, fmt.Errorf("waiting for the end of an upload: %w", err)
	}
	return Result{Rate: float64(binary.BigEndian.Uint64(answer[:])) / time.Since(start).Seconds()}, nil
}
