package control

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// notification is what a notification server was given.
type notification struct {
	app, icon, summary, body string
	replaces                 uint32
	urgency                  any
	expire                   int32
}

// desktop is a notification server on a bus.
type desktop struct{ shown chan notification }

// Notify is the method of org.freedesktop.Notifications.
func (d desktop) Notify(app string, replaces uint32, icon, summary, body string, _ []string, hints map[string]dbus.Variant, expire int32) (uint32, *dbus.Error) {
	d.shown <- notification{app, icon, summary, body, replaces, hints["urgency"].Value(), expire}
	return 1, nil
}

// newBus starts a session bus of the test's own and returns its socket.
func newBus(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bus") // a socket's path is short; a test's folder may not be
	need(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "bus")
	daemon := exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address", "--address=unix:path="+socket)
	daemon.Stderr = t.Output()
	out, err := daemon.StdoutPipe()
	need(t, err)
	if err := daemon.Start(); err != nil {
		t.Fatalf("starting a session bus (Debian package dbus-daemon): %v", err)
	}
	t.Cleanup(func() { daemon.Process.Kill(); daemon.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it listens now
		t.Fatalf("reading the bus's address: %v", err)
	}
	return socket
}

// newDesktop puts a notification server on the bus.
func newDesktop(t *testing.T, socket string) desktop {
	t.Helper()
	bus, err := dbus.Connect("unix:path=" + socket)
	need(t, err)
	t.Cleanup(func() { bus.Close() })
	d := desktop{make(chan notification, 10)}
	need(t, bus.Export(d, "/org/freedesktop/Notifications", "org.freedesktop.Notifications"))
	reply, err := bus.RequestName("org.freedesktop.Notifications", dbus.NameFlagDoNotQueue)
	if err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("taking the name: %v, %v", reply, err)
	}
	return d
}

func TestANotificationIsShown(t *testing.T) {
	socket := newBus(t)
	d := newDesktop(t, socket)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+socket+",guid=00000000000000000000000000000000")
	need(t, Notify(t.Context(), os.Getuid(), "box is paused", "a call to <b>a & b</b>\x1b[2J\nTo end it: …"))
	want := notification{
		app: "lnk", icon: "dialog-warning", summary: "box is paused", body: "a call to &lt;b&gt;a &amp; b&lt;/b&gt;?[2J\nTo end it: …",
		urgency: byte(2), expire: -1,
	}
	if got := <-d.shown; got != want {
		t.Fatalf("shown %+v, want %+v", got, want)
	}
}

func TestTheNextAddressIsTriedWhereTheFirstIsDead(t *testing.T) {
	socket := newBus(t)
	d := newDesktop(t, socket)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/at/all;tcp:host=127.0.0.1,port=1;unix:path="+socket)
	need(t, Notify(t.Context(), os.Getuid(), "s", "b"))
	<-d.shown
}

func TestWithoutADesktopThereIsAnError(t *testing.T) {
	const nobody = 4294967294 // who has no folder in /run/user
	t.Run("no bus", func(t *testing.T) {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
		wantNoNotification(t, Notify(t.Context(), nobody, "s", "b"), "no such file")
	})
	t.Run("a bus without a notification server", func(t *testing.T) {
		wantNoNotification(t, notifyAt(t.Context(), newBus(t), "s", "b"), "org.freedesktop.Notifications")
	})
	t.Run("a context that has ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wantNoNotification(t, Notify(ctx, nobody, "s", "b"), "canceled")
	})
	t.Run("a bus that isn't one", func(t *testing.T) {
		socket := listening(t, func(c net.Conn) { c.Write([]byte("\n\x00\xff \r\n\r\nREJECTED\r\n")) })
		wantNoNotification(t, notifyAt(t.Context(), socket, "s", "b"), "")
	})
}

func wantNoNotification(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Fatalf("notifying: %v, want %q", err, part)
	}
}

// listening is a socket at which do answers each connection.
func listening(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bus")
	need(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "bus"))
	need(t, err)
	var conns []net.Conn
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, c)
			do(c)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
		for _, c := range conns {
			c.Close()
		}
	})
	return filepath.Join(dir, "bus")
}

// The promise itself is a time: a second at most, whatever the bus does.
func TestABusThatSaysNothingTakesASecond(t *testing.T) {
	silent := listening(t, func(net.Conn) {})
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+silent+";unix:path="+silent)
	begin := time.Now()
	err := Notify(t.Context(), os.Getuid(), "s", "b")
	took := time.Since(begin)
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("notifying: %v", err)
	}
	if took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestWhereABusIsLookedFor(t *testing.T) {
	cases := map[string]struct {
		env  string
		want []string
	}{
		"nothing in the environment":     {"", []string{"/run/user/1001/bus"}},
		"a path":                         {"unix:path=/tmp/a", []string{"/tmp/a", "/run/user/1001/bus"}},
		"a path with a guid":             {"unix:path=/tmp/a,guid=0123", []string{"/tmp/a", "/run/user/1001/bus"}},
		"an escaped path":                {"unix:path=/tmp/a%20b", []string{"/tmp/a b", "/run/user/1001/bus"}},
		"an abstract socket":             {"unix:abstract=/tmp/a", []string{"@/tmp/a", "/run/user/1001/bus"}},
		"several":                        {"unix:path=/tmp/a;unix:path=/tmp/b", []string{"/tmp/a", "/tmp/b", "/run/user/1001/bus"}},
		"a port is never called":         {"tcp:host=example.test,port=1", []string{"/run/user/1001/bus"}},
		"a program is never started":     {"unixexec:path=/bin/sh,argv1=-c", []string{"/run/user/1001/bus"}},
		"nothing is launched":            {"autolaunch:", []string{"/run/user/1001/bus"}},
		"a broken escape":                {"unix:path=%zz", []string{"/run/user/1001/bus"}},
		"an empty path":                  {"unix:path=", []string{"/run/user/1001/bus"}},
		"a folder in which a server is":  {"unix:tmpdir=/tmp", []string{"/run/user/1001/bus"}},
		"what isn't an address anywhere": {"/tmp/a;;=,;unix:", []string{"/run/user/1001/bus"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := busAddresses(c.env, "/run/user", 1001); !reflect.DeepEqual(got, c.want) {
				t.Fatalf("addresses %q, want %q", got, c.want)
			}
		})
	}
}
