package netns

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// kind names a message of the handshake; doc.go draws it.
type kind string

const (
	// From init.
	kindHello   kind = "hello"   // init runs in its namespaces
	kindSockets kind = "sockets" // sockets of the room, and what they are for
	kindBuilt   kind = "built"   // the room stands and was tried; the last sockets come with it
	kindReady   kind = "ready"   // mounts made, privileges given up
	kindRunning kind = "running" // exec succeeded
	kindDialed  kind = "dialed"  // a connection, or the errno of connect
	kindStopped kind = "stopped" // a signal has stopped the program
	kindStands  kind = "stands"  // and it still is stopped
	kindEnded   kind = "ended"   // how the program ended; init exits next
	kindFailed  kind = "failed"  // the step asked for didn't work; init exits next
	// From the launcher.
	kindBuild  kind = "build"
	kindGo     kind = "go"
	kindRun    kind = "run"
	kindDial   kind = "dial"
	kindCancel kind = "cancel"
	kindSignal kind = "signal"
	kindStop   kind = "stop" // does the program still stand?
)

// message is one named message: a body in JSON, and descriptors.
type message struct {
	kind  kind
	body  []byte
	files []*os.File
}

// into decodes the body. Descriptors that nobody has taken by then are closed.
func (m message) into(v any) error {
	m.discard()
	if err := json.Unmarshal(m.body, v); err != nil {
		return fmt.Errorf("reading the message %q: %w", m.kind, err)
	}
	return nil
}

// with decodes the body, and leaves the descriptors to whoever asks.
func (m message) with(v any) ([]*os.File, error) {
	if err := (message{kind: m.kind, body: m.body}).into(v); err != nil {
		m.discard()
		return nil, err
	}
	return m.files, nil
}

func (m message) discard() { closeAll(m.files) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// channel carries messages. Any goroutine may send; one receives. A message longer than a packet goes as several (an
// environment can hold 2 MiB, a packet no more than the send buffer, 208 KiB by default): the first octet of a packet says
// whether more of its message follow. Its descriptors go with the last.
type channel struct {
	packets
	sending        sync.Mutex
	packet, rights []byte // the receiver's
}

const (
	packetSize = 32 << 10
	packetMore = '+'
	packetLast = '.'
	// maxMessage is more than exec takes (ARG_MAX, 2 MiB by default; a third more in base64) and what a plan's files hold.
	maxMessage = 64 << 20
	// maxFiles is what a message can carry; a packet can carry 253 (SCM_MAX_FD).
	maxFiles = 128
)

var errTooLong = errors.New("longer than a message can be")

func newChannel(p packets) *channel {
	return &channel{packets: p, packet: make([]byte, packetSize+1), rights: make([]byte, unix.CmsgSpace(4*maxFiles))}
}

func (c *channel) send(k kind, body any, fds ...int) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing the message %q: %w", k, err)
	}
	data = append([]byte(string(k)+"\n"), data...)
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.sendData(data, fds); err != nil {
		return fmt.Errorf("sending the message %q: %w", k, err)
	}
	return nil
}

func (c *channel) sendData(data []byte, fds []int) error {
	packet := make([]byte, 0, 1+min(len(data), packetSize))
	for len(data) > packetSize {
		packet = append(append(packet[:0], packetMore), data[:packetSize]...)
		if err := c.write(packet, nil); err != nil {
			return err
		}
		data = data[packetSize:]
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	return c.write(append(append(packet[:0], packetLast), data...), rights)
}

// receive waits for the next message; io.EOF says that the other side is gone.
func (c *channel) receive() (message, error) {
	var whole []byte
	var files []*os.File
	for {
		part, more, err := c.receivePacket()
		files = append(files, more...)
		if err == nil && len(whole)+len(part) > maxMessage {
			err = fmt.Errorf("receiving a message: %w", errTooLong)
		}
		if err != nil {
			closeAll(files)
			return message{}, err
		}
		whole = append(whole, part...)
		if c.packet[0] == packetLast {
			return split(whole, files)
		}
	}
}

func (c *channel) receivePacket() ([]byte, []*os.File, error) {
	n, rightsn, err := c.read(c.packet, c.rights)
	if err != nil {
		return nil, nil, err
	}
	files, err := passed(c.rights[:rightsn])
	return c.packet[1:n], files, err
}

func split(whole []byte, files []*os.File) (message, error) {
	name, body, ok := bytes.Cut(whole, []byte("\n"))
	if !ok {
		closeAll(files)
		return message{}, fmt.Errorf("receiving a message: it has no name: %.20q", whole)
	}
	return message{kind(name), body, files}, nil
}

// passed takes the descriptors out of control messages.
func passed(oob []byte) ([]*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	controls, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("reading passed descriptors: %w", err)
	}
	var files []*os.File
	for i := range controls {
		fds, err := unix.ParseUnixRights(&controls[i])
		if err != nil {
			continue // credentials, which nobody asked for
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files, nil
}
