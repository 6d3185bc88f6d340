package netns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// listen takes in what the launcher says while the program runs.
func (r *roomInit) listen() {
	for {
		m, err := r.ch.receive()
		if err != nil {
			return // the launcher is gone, and this process will be
		}
		switch m.kind {
		case kindDial:
			r.dial(m)
		case kindCancel:
			r.cancel(m)
		case kindSignal:
			r.signal(m)
		case kindStop:
			r.stands(m)
		default:
			m.discard()
		}
	}
}

// dial makes a connection in the background and passes it up.
func (r *roomInit) dial(m message) {
	var body dialBody
	if m.into(&body) != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.mu.Lock()
	r.dials[body.ID] = cancel
	r.mu.Unlock()
	go func() {
		defer r.forget(body.ID)
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", body.To)
		if err != nil {
			r.ch.send(kindDialed, dialedBody{body.ID, errnoOf(err)})
			return
		}
		defer conn.Close()
		r.pass(body.ID, conn.(*net.TCPConn))
	}()
}

func (r *roomInit) pass(id uint64, conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { r.ch.send(kindDialed, dialedBody{ID: id}, int(fd)) })
	}
	if err != nil {
		r.ch.send(kindDialed, dialedBody{id, errnoOf(err)})
	}
}

// errnoOf returns connect's errno. Where it isn't known (the dial was cancelled: nobody waits) it is ECANCELED.
func errnoOf(err error) unix.Errno {
	errno := unix.ECANCELED
	errors.As(err, &errno)
	return errno
}

func (r *roomInit) cancel(m message) {
	var body cancelBody
	if m.into(&body) == nil {
		r.forget(body.ID)
	}
}

func (r *roomInit) forget(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.dials[id]; cancel != nil {
		cancel()
	}
	delete(r.dials, id)
}

func (r *roomInit) signal(m message) {
	var body signalBody
	if m.into(&body) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.program.signal(body.Signal)
}

// stands answers whether the program is stopped. Where it isn't there is no answer; its next stop will be reported.
func (r *roomInit) stands(m message) {
	var body stoppedBody
	if m.into(&body) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if isStopped(r.program.pid) {
		r.ch.send(kindStands, body)
	}
}

// isStopped reads the state of a process, which follows its name, the last thing in brackets (proc_pid_stat(5)).
func isStopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := bytes.LastIndex(stat, []byte(") "))
	return err == nil && i >= 0 && bytes.HasPrefix(stat[i+2:], []byte("T"))
}

// again execs init once more: with the calling thread's credentials, which have nothing left, in place of all threads'.
func again(extra int) error {
	for fd := socketFD; fd <= socketFD+extra; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("keeping the descriptor %d: %w", fd, err)
		}
	}
	return fmt.Errorf("starting init again: %w", unix.Exec("/proc/self/exe", []string{keeperName}, os.Environ()))
}
