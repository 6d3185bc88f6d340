package netns

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// kind names a message of the handshake; doc.go draws it.
type kind string

const (
	// From init.
	kindHello   kind = "hello"   // init runs in its namespaces
	kindSocket  kind = "socket"  // one socket of the room, and what it is for
	kindBuilt   kind = "built"   // the room stands and was tried
	kindReady   kind = "ready"   // mounts made, privileges given up
	kindRunning kind = "running" // exec succeeded
	kindDialed  kind = "dialed"  // a connection, or the errno of connect
	kindEnded   kind = "ended"   // how the program ended; init exits next
	kindFailed  kind = "failed"  // the step asked for didn't work; init exits next
	// From the launcher.
	kindBuild  kind = "build"
	kindGo     kind = "go"
	kindRun    kind = "run"
	kindDial   kind = "dial"
	kindCancel kind = "cancel"
	kindSignal kind = "signal"
)

// message is one named message: a body in JSON and at most one descriptor.
type message struct {
	kind kind
	body json.RawMessage
	file *os.File
}

// into decodes the body and closes a descriptor that nobody asked for.
func (m message) into(v any) error {
	m.discard()
	if err := json.Unmarshal(m.body, v); err != nil {
		return fmt.Errorf("reading the message %q: %w", m.kind, err)
	}
	return nil
}

func (m message) discard() {
	if m.file != nil {
		m.file.Close()
	}
}

// channel carries messages over one end of a SOCK_SEQPACKET pair. Any goroutine may send; one receives. A message longer
// than a packet (an environment can hold 2 MiB, a packet no more than the send buffer, 208 KiB by default) goes as several:
// the first octet of a packet says whether more of its message follow.
type channel struct {
	conn           *net.UnixConn
	sending        sync.Mutex
	packet, rights []byte // the receiver's
}

const (
	packetSize = 32 << 10
	packetMore = '+'
	packetLast = '.'
	// maxMessage is more than exec takes (ARG_MAX, 2 MiB by default; a third more in base64) and what a plan's files hold.
	maxMessage = 64 << 20
)

var errTooLong = errors.New("longer than a message can be")

// newChannel takes over fd.
func newChannel(fd int) (*channel, error) {
	f := os.NewFile(uintptr(fd), "room")
	if f == nil {
		return nil, fmt.Errorf("opening the room's socket: %w", unix.EBADF)
	}
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("opening the room's socket: %w", err)
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, fmt.Errorf("opening the room's socket: it is a %T", c)
	}
	return &channel{conn: conn, packet: make([]byte, packetSize+1), rights: make([]byte, unix.CmsgSpace(4))}, nil
}

func (c *channel) close() error { return c.conn.Close() }

// send sends a message. The descriptor, if any, goes with its last packet.
func (c *channel) send(k kind, body any, fds ...int) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing the message %q: %w", k, err)
	}
	data = append([]byte(string(k)+"\n"), data...)
	c.sending.Lock()
	defer c.sending.Unlock()
	packet := make([]byte, 0, 1+min(len(data), packetSize))
	for len(data) > packetSize {
		packet = append(append(packet[:0], packetMore), data[:packetSize]...)
		if _, _, err := c.conn.WriteMsgUnix(packet, nil, nil); err != nil {
			return fmt.Errorf("sending the message %q: %w", k, err)
		}
		data = data[packetSize:]
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	packet = append(append(packet[:0], packetLast), data...)
	if _, _, err := c.conn.WriteMsgUnix(packet, rights, nil); err != nil {
		return fmt.Errorf("sending the message %q: %w", k, err)
	}
	return nil
}

// receive waits for the next message; io.EOF says that the other side is gone.
func (c *channel) receive() (message, error) {
	var whole []byte
	for {
		n, oobn, _, _, err := c.conn.ReadMsgUnix(c.packet, c.rights)
		if err != nil {
			return message{}, err
		}
		if n == 0 {
			return message{}, io.EOF
		}
		file, err := passed(c.rights[:oobn])
		if err != nil {
			return message{}, err
		}
		if whole = append(whole, c.packet[1:n]...); len(whole) > maxMessage {
			return message{}, fmt.Errorf("receiving a message: %w", errTooLong)
		}
		if c.packet[0] == packetLast {
			return split(whole, file)
		}
	}
}

func split(whole []byte, file *os.File) (message, error) {
	for i, c := range whole {
		if c == '\n' {
			return message{kind(whole[:i]), whole[i+1:], file}, nil
		}
	}
	message{file: file}.discard()
	return message{}, fmt.Errorf("receiving a message: it has no name: %.20q", whole)
}

// passed takes the descriptor out of a control message. Go receives it with MSG_CMSG_CLOEXEC.
func passed(oob []byte) (*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	controls, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("reading a passed descriptor: %w", err)
	}
	for i := range controls {
		fds, err := unix.ParseUnixRights(&controls[i])
		if err != nil || len(fds) == 0 {
			continue
		}
		return os.NewFile(uintptr(fds[0]), "passed"), nil
	}
	return nil, nil
}
