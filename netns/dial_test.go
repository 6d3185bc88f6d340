package netns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { probes["listen"] = probeListen }

// probeListen answers connections with where they came from, until its input ends.
func probeListen(args []string) error {
	for _, addr := range args {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				fmt.Fprintf(c, "%s", c.RemoteAddr().(*net.TCPAddr).IP)
				c.Close()
			}
		}()
	}
	fmt.Println("up")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// listening runs a program that listens at the addresses.
func (w who) listening(t *testing.T, addrs ...string) (l *Launch, end func()) {
	t.Helper()
	in, hold, err := os.Pipe()
	must(t, err)
	r, out, err := os.Pipe()
	must(t, err)
	defer r.Close()
	l = w.start(t, Options{Stdin: in, Stdout: out, Stderr: out})
	must(t, in.Close())
	must(t, out.Close())
	room, err := l.Build(w.probe("listen", addrs...))
	must(t, err)
	t.Cleanup(room.close)
	must(t, l.Go())
	buf := make([]byte, 200)
	n, err := r.Read(buf)
	if string(buf[:n]) != "up\n" {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	return l, func() { hold.Close() }
}

func TestDialReachesAServerInside(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		l, end := w.listening(t, "127.0.0.1:1455", "[::1]:1455")
		for addr, want := range map[string]string{"127.0.0.1:1455": "127.0.0.1", "[::1]:1455": "::1"} {
			conn, err := l.Dial(context.Background(), netip.MustParseAddrPort(addr))
			must(t, err)
			if conn.RemoteAddr().String() != addr {
				t.Errorf("the other side is %s", conn.RemoteAddr())
			}
			said, err := io.ReadAll(conn)
			must(t, err)
			must(t, conn.Close())
			if string(said) != want {
				t.Errorf("%s says %q", addr, said)
			}
		}
		_, err := l.Dial(context.Background(), netip.MustParseAddrPort("127.0.0.1:1456"))
		var failed *net.OpError
		if !errors.Is(err, unix.ECONNREFUSED) || !errors.As(err, &failed) {
			t.Errorf("nobody there: %v", err)
		}
		if _, err := l.Dial(context.Background(), netip.AddrPort{}); err == nil {
			t.Error("the zero address was dialled")
		}
		end()
		_, err = l.Wait()
		must(t, err)
		if _, err := l.Dial(context.Background(), netip.MustParseAddrPort("127.0.0.1:1455")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestManyDialsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		l, end := w.listening(t, "127.0.0.1:1455")
		before := len(descriptorsOpen(t))
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				port := 1455 + uint16(i%2)
				conn, err := l.Dial(context.Background(), netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port))
				if port == 1456 {
					if !errors.Is(err, unix.ECONNREFUSED) {
						t.Errorf("%v", err)
					}
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				said, err := io.ReadAll(conn)
				conn.Close()
				if err != nil || string(said) != "127.0.0.1" {
					t.Errorf("%q, %v", said, err)
				}
			})
		}
		all.Wait()
		if after := len(descriptorsOpen(t)); after != before {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
		end()
		_, err := l.Wait()
		must(t, err)
	})
}

func TestACancelledDialLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		l, end := w.listening(t, "127.0.0.1:1455")
		before := len(descriptorsOpen(t))
		cause := errors.New("changed my mind")
		for range 100 {
			ctx, cancel := context.WithCancelCause(context.Background())
			go cancel(cause)
			conn, err := l.Dial(ctx, netip.MustParseAddrPort("127.0.0.1:1455"))
			switch {
			case err == nil:
				conn.Close()
			case !errors.Is(err, cause):
				t.Fatalf("%v", err)
			}
		}
		// What was late has come by the time a later dial is answered, or soon after; the next one's answer is the last.
		conn, err := l.Dial(context.Background(), netip.MustParseAddrPort("127.0.0.1:1455"))
		must(t, err)
		must(t, conn.Close())
		l.mu.Lock()
		waiting := len(l.dials)
		l.mu.Unlock()
		if waiting != 0 {
			t.Errorf("%d dials are still expected", waiting)
		}
		end()
		_, err = l.Wait()
		must(t, err)
		if after := len(descriptorsOpen(t)); after > before {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
	})
}

func TestTheRoomsEndEndsADial(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		l, end := w.listening(t, "127.0.0.1:1455")
		defer end()
		done := make(chan error, 50)
		for range cap(done) {
			go func() {
				for {
					conn, err := l.Dial(context.Background(), netip.MustParseAddrPort("127.0.0.1:1455"))
					if err != nil {
						done <- err
						return
					}
					conn.Close()
				}
			}()
		}
		must(t, l.Close())
		for range cap(done) {
			if err := <-done; !errors.Is(err, net.ErrClosed) && !errors.Is(err, unix.ECONNREFUSED) {
				t.Errorf("%v", err)
			}
		}
	})
}
