package proxy

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// direction copies one direction of a relay. It waits without a buffer; it copies through a small one from a pool while little
// comes, and splices through a pipe from a pool (splice(2): the bytes stay in the kernel) once the direction is bulk, and gives
// the pipe back whenever it has to wait. So an idle call holds two descriptors and no memory of the process.
type direction struct {
	from, to *net.TCPConn
	pipes    *pipePool
	carried  func(n int64) // told of every delivered chunk
}

const (
	bufferSize = 32 << 10
	// bulkRead is a read that shows that more is waiting than a buffer holds.
	bulkRead = bufferSize
	// quietRead is a splice so small that the direction isn't bulk any more.
	quietRead = 4 << 10
)

// run copies until from ends its direction, which is passed on as a half-close, and returns nil; or until either side breaks,
// and returns the error.
func (d *direction) run() error {
	in, err := d.from.SyscallConn()
	if err != nil {
		return err
	}
	out, err := d.to.SyscallConn()
	if err != nil {
		return err
	}
	bulk := false
	for {
		var n int64
		if bulk {
			n, err = d.spliceOnce(in, out)
			bulk = n > quietRead
		} else {
			n, err = d.copyOnce(in)
			bulk = n >= bulkRead
		}
		if n > 0 {
			d.carried(n)
		}
		if errors.Is(err, io.EOF) {
			return halfClose(d.to)
		}
		if err != nil {
			return err
		}
	}
}

// halfClose passes the end of a direction on. A peer that has gone already needs to be told nothing.
func halfClose(c *net.TCPConn) error {
	if err := c.CloseWrite(); err != nil && !errors.Is(err, syscall.ENOTCONN) {
		return err
	}
	return nil
}

// copyOnce carries what one read gives, through a pooled buffer that is held only while there is something in it.
func (d *direction) copyOnce(in syscall.RawConn) (int64, error) {
	var b *[]byte
	var n int
	var readErr error
	err := in.Read(func(fd uintptr) bool {
		if b == nil {
			b = buffers.get()
		}
		n, readErr = ignoringEINTR(func() (int, error) { return unix.Read(int(fd), *b) })
		if readErr == unix.EAGAIN {
			buffers.put(b)
			b = nil
			return false
		}
		return true
	})
	defer func() {
		if b != nil {
			buffers.put(b)
		}
	}()
	switch {
	case err != nil:
		return 0, err
	case readErr != nil:
		return 0, os.NewSyscallError("read", readErr)
	case n == 0:
		return 0, io.EOF
	}
	written, err := d.to.Write((*b)[:n])
	return int64(written), err
}

// spliceOnce carries what one splice into a pipe gives.
func (d *direction) spliceOnce(in, out syscall.RawConn) (int64, error) {
	var p *pipe
	var n int
	var spliceErr error
	err := in.Read(func(fd uintptr) bool {
		if p == nil {
			if p, spliceErr = d.pipes.get(); spliceErr != nil {
				return true
			}
		}
		n, spliceErr = ignoringEINTR(func() (int, error) {
			moved, err := unix.Splice(int(fd), nil, p.w, nil, p.size, unix.SPLICE_F_NONBLOCK|unix.SPLICE_F_MOVE)
			return int(moved), err
		})
		if spliceErr == unix.EAGAIN {
			d.pipes.put(p)
			p = nil
			return false
		}
		return true
	})
	if p == nil && spliceErr != nil && err == nil {
		return d.copyOnce(in) // no descriptors for a pipe: the buffer does it
	}
	if p == nil {
		return 0, err
	}
	switch {
	case err != nil || spliceErr != nil || n == 0:
		d.pipes.put(p)
		if err == nil && spliceErr != nil {
			err = os.NewSyscallError("splice", spliceErr)
		}
		if err == nil {
			err = io.EOF
		}
		return 0, err
	}
	written, err := d.empty(p, out, n)
	if err != nil {
		p.close() // it still holds bytes
	} else {
		d.pipes.put(p)
	}
	return written, err
}

// empty moves n bytes from a pipe to the other side, waiting for it as need be.
func (d *direction) empty(p *pipe, out syscall.RawConn, n int) (int64, error) {
	left := n
	var spliceErr error
	err := out.Write(func(fd uintptr) bool {
		for left > 0 {
			moved, err := ignoringEINTR(func() (int, error) {
				moved, err := unix.Splice(p.r, nil, int(fd), nil, left, unix.SPLICE_F_NONBLOCK|unix.SPLICE_F_MOVE)
				return int(moved), err
			})
			if err == unix.EAGAIN {
				return false
			}
			if err != nil {
				spliceErr = os.NewSyscallError("splice", err)
				return true
			}
			left -= moved
		}
		return true
	})
	return int64(n - left), errors.Join(err, spliceErr)
}

// carryDirection runs one direction to its end. Where one side breaks, the other is reset: the end of a broken connection must not look
// like a proper one.
func (f *flow) carryDirection(d direction) {
	if err := d.run(); err != nil {
		reset(d.from)
		reset(d.to)
	}
}

// upward is the direction from the client of call c to its upstream.
func (f *flow) upward(c *call, upstream *net.TCPConn) direction {
	return direction{from: f.client, to: upstream, pipes: &f.wire.pipes, carried: c.sent}
}

// downward is the direction from the upstream of call c to its client.
func (f *flow) downward(c *call, upstream *net.TCPConn) direction {
	return direction{from: upstream, to: f.client, pipes: &f.wire.pipes, carried: c.received}
}
