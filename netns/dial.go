package netns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// dialed is init's answer to a dial: a connection's descriptor, or why there is none.
type dialed struct {
	file  *os.File
	errno unix.Errno
}

// Dial makes a TCP connection inside the room, to a literal address. Its errors are *net.OpError around the errno of
// connect, the context's error, or net.ErrClosed once the room is gone.
func (l *Launch) Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	conn, err := l.dial(ctx, to)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: err}
	}
	return conn, nil
}

func (l *Launch) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	if !to.IsValid() {
		return nil, errors.New("not an address and port")
	}
	id, answer := l.expectDial()
	if answer == nil {
		return nil, net.ErrClosed
	}
	if err := l.ch.send(kindDial, dialBody{id, to.String()}); err != nil {
		l.forgetDial(id, answer)
		return nil, net.ErrClosed
	}
	select {
	case d, ok := <-answer:
		return d.conn(ok)
	case <-ctx.Done():
		l.forgetDial(id, answer)
		l.ch.send(kindCancel, cancelBody{id}) // where init is gone there is nothing to cancel
		return nil, context.Cause(ctx)
	}
}

func (d dialed) conn(ok bool) (net.Conn, error) {
	switch {
	case !ok:
		return nil, net.ErrClosed
	case d.errno != 0:
		return nil, os.NewSyscallError("connect", d.errno)
	case d.file == nil:
		return nil, errors.New("no connection came")
	}
	defer d.file.Close()
	c, err := net.FileConn(d.file)
	if err != nil {
		return nil, fmt.Errorf("taking the connection: %w", err)
	}
	return c, nil
}

func (l *Launch) expectDial() (uint64, chan dialed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dials == nil {
		return 0, nil
	}
	l.lastID++
	answer := make(chan dialed, 1)
	l.dials[l.lastID] = answer
	return l.lastID, answer
}

// forgetDial gives up on an answer; one that came in between is thrown away.
func (l *Launch) forgetDial(id uint64, answer chan dialed) {
	l.mu.Lock()
	delete(l.dials, id)
	l.mu.Unlock()
	select {
	case d := <-answer:
		closeAll([]*os.File{d.file})
	default:
	}
}

// dialed passes an answer on, to whoever still waits for it.
func (l *Launch) dialed(m message) {
	var body dialedBody
	files, err := m.with(&body)
	if err != nil {
		return
	}
	d := dialed{errno: body.Errno}
	if len(files) > 0 {
		d.file = files[0]
	}
	l.mu.Lock()
	answer, ok := l.dials[body.ID]
	if ok {
		delete(l.dials, body.ID)
		answer <- d // it holds one, and gets one
	}
	l.mu.Unlock()
	if !ok {
		closeAll(files)
	}
}

// endDials tells all who wait that no answer will come.
func (l *Launch) endDials() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, answer := range l.dials {
		close(answer)
	}
	l.dials = nil
}
