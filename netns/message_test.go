package netns

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// pair is a launcher's end and an init's.
func pair(t testing.TB) (launcher, init *channel) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := poll(fds[0])
	if err != nil {
		t.Fatal(err)
	}
	launcher, init = newChannel(ours), newChannel(blocking(fds[1]))
	t.Cleanup(func() { launcher.close(); init.close() })
	return launcher, init
}

func TestMessagesOfAnyLengthArriveWhole(t *testing.T) {
	launcher, init := pair(t)
	for name, c := range map[string][2]*channel{"to init": {launcher, init}, "from init": {init, launcher}} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 1, packetSize - 50, packetSize, packetSize + 1, 3*packetSize + 7, 5 << 20} {
				body := bytes.Repeat([]byte{0xff, 0}, n/2)
				sent := make(chan error)
				go func() { sent <- c[0].send(kindRun, runBody{Dir: body}) }()
				m, err := c[1].receive()
				must(t, err)
				must(t, <-sent)
				var got runBody
				must(t, m.into(&got))
				if m.kind != kindRun || !bytes.Equal(got.Dir, body) {
					t.Errorf("%d octets: %q, %d octets", n, m.kind, len(got.Dir))
				}
			}
		})
	}
}

func TestDescriptorsComeWithTheirMessage(t *testing.T) {
	launcher, init := pair(t)
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	must(t, init.send(kindSockets, runBody{Dir: make([]byte, 2*packetSize)}, int(w.Fd()), int(w.Fd())))
	must(t, w.Close())
	m, err := launcher.receive()
	must(t, err)
	if len(m.files) != 2 {
		t.Fatalf("%d descriptors", len(m.files))
	}
	for _, f := range m.files {
		flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("flags %d, %v", flags, err)
		}
	}
	var body runBody
	must(t, m.into(&body)) // and the descriptors, which nobody took, are closed
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a descriptor is left: %v", err)
	}
}

func TestTheOtherEndsEnd(t *testing.T) {
	launcher, init := pair(t)
	must(t, init.close())
	if _, err := launcher.receive(); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	if err := launcher.send(kindGo, nil); !errors.Is(err, unix.EPIPE) {
		t.Errorf("%v", err)
	}
	launcher, init = pair(t)
	closed := make(chan struct{})
	go func() { init.packets.(blocking).untilClosed(); close(closed) }()
	must(t, launcher.send(kindGo, struct{}{})) // which doesn't end the wait, nor is it taken
	must(t, launcher.close())
	<-closed
	if m, err := init.receive(); err != nil || m.kind != kindGo {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := init.receive(); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	for _, c := range []struct {
		is  string
		err error
	}{
		{"an errno", fmt.Errorf("adding the link: %w", unix.EEXIST)},
		{"a system call's", os.NewSyscallError("bind", unix.EADDRINUSE)},
		{"a missing right", fmt.Errorf("x: %w", &RightError{"no veth", "modprobe", unix.EOPNOTSUPP})},
		{"a program", fmt.Errorf("x: %w", &ExecError{127, "a\xffb", unix.ENOENT})},
		{"only words", errors.New("words")},
	} {
		t.Run(c.is, func(t *testing.T) {
			data, err := json.Marshal(failureOf(c.err))
			must(t, err)
			var f failure
			must(t, json.Unmarshal(data, &f))
			got := f.err()
			var want unix.Errno
			if errors.As(c.err, &want) && !errors.Is(got, want) {
				t.Errorf("%v isn't %v", got, want)
			}
			var right, wantRight *RightError
			if errors.As(c.err, &wantRight) && (!errors.As(got, &right) || right.Missing != wantRight.Missing || right.Hint != wantRight.Hint) {
				t.Errorf("%#v", got)
			}
			var program, wantProgram *ExecError
			if errors.As(c.err, &wantProgram) && (!errors.As(got, &program) || program.Status != 127 || program.Path != wantProgram.Path) {
				t.Errorf("%#v", got)
			}
			if !strings.HasSuffix(c.err.Error(), got.Error()) {
				t.Errorf("%q, not %q", got, c.err)
			}
		})
	}
}

func TestCapabilitySetsHaveTwoHalves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := Capabilities(rapid.Uint64().Draw(t, "set"))
		_, data := capabilityData(set, 0, 0)
		if back := Capabilities(data[1].Effective)<<32 | Capabilities(data[0].Effective); back != set {
			t.Errorf("%#x became %#x", set, back)
		}
	})
}

func TestSockaddrs(t *testing.T) {
	for _, s := range []string{"127.0.0.1:53", "[fd6c:6e6b::1]:1"} {
		at := netip.MustParseAddrPort(s)
		var back netip.AddrPort
		switch sa := sockaddr(at).(type) {
		case *unix.SockaddrInet4:
			back = netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
		case *unix.SockaddrInet6:
			back = netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port))
		}
		if back != at {
			t.Errorf("%s became %s", at, back)
		}
	}
}

// heard feeds a channel packets that another end would never send.
type heard struct {
	list [][]byte
}

func (h *heard) read(packet, _ []byte) (int, int, error) {
	if len(h.list) == 0 {
		return 0, 0, io.EOF
	}
	n := copy(packet, h.list[0])
	h.list = h.list[1:]
	if n == 0 {
		return 0, 0, io.EOF
	}
	return n, 0, nil
}

func (h *heard) write(_, _ []byte) error { return nil }
func (h *heard) close() error            { return nil }

func FuzzReceive(f *testing.F) {
	f.Add([]byte(".build\n{}"), []byte(""))
	f.Add([]byte("+bui"), []byte(".ld\n{}"))
	f.Add([]byte("no name"), []byte("."))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		c := newChannel(&heard{[][]byte{first, second}})
		for {
			m, err := c.receive()
			if err != nil {
				return
			}
			var body runBody
			m.into(&body)
		}
	})
}
