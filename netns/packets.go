package netns

import (
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// packets is one end of a SOCK_SEQPACKET pair. Each packet arrives whole or not at all; io.EOF says that the other end is
// closed. Descriptors that come with one are close-on-exec.
type packets interface {
	read(packet, rights []byte) (n, rightsn int, err error)
	write(packet, rights []byte) error
	close() error
}

// polled is the launcher's end: the runtime's poller waits for it, and close ends a read.
type polled struct{ conn *net.UnixConn }

// poll takes over fd.
func poll(fd int) (polled, error) {
	f := os.NewFile(uintptr(fd), "room")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return polled{}, fmt.Errorf("opening the room's socket: %w", err)
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return polled{}, fmt.Errorf("opening the room's socket: it is a %T", c)
	}
	return polled{conn}, nil
}

func (p polled) read(packet, rights []byte) (n, rightsn int, err error) {
	n, rightsn, _, _, err = p.conn.ReadMsgUnix(packet, rights)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, rightsn, err
}

func (p polled) write(packet, rights []byte) error {
	_, _, err := p.conn.WriteMsgUnix(packet, rights, nil)
	return err
}

func (p polled) close() error { return p.conn.Close() }

// blocking is init's end. Its main goroutine is locked to a thread, and each time such a goroutine waits for another the
// runtime has to switch threads twice; in a system call it just waits.
type blocking int

func (fd blocking) read(packet, rights []byte) (n, rightsn int, err error) {
	for {
		n, rightsn, _, _, err = unix.Recvmsg(int(fd), packet, rights, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if n == 0 && err == nil {
			return 0, 0, io.EOF
		}
		return n, rightsn, os.NewSyscallError("recvmsg", err)
	}
}

func (fd blocking) write(packet, rights []byte) error {
	for {
		err := unix.Sendmsg(int(fd), packet, rights, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return os.NewSyscallError("sendmsg", err)
		}
	}
}

func (fd blocking) close() error { return unix.Close(int(fd)) }

// untilClosed waits until the other end is closed, and takes in nothing.
func (fd blocking) untilClosed() {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd)}}, -1)
		if err != unix.EINTR {
			return
		}
	}
}
