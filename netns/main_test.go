package netns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// The test binary is three things: itself; the launcher of a room, being re-executed to run one test as another user; and
// what a launcher is in lnk, init and, in a room, the program that looks around there (a probe).
const (
	childEnv = "LNK_TEST_CHILD"
	probeEnv = "LNK_TEST_PROBE"
)

func TestMain(m *testing.M) {
	Init()
	if name := os.Getenv(probeEnv); name != "" {
		os.Exit(runProbe(name, os.Args[1:]))
	}
	if os.Getenv(launchEnv) != "" {
		os.Exit(launch(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// ordinary is the user that tests take on; the machine doesn't have to know it.
const ordinary = 1001

// who is one of the ways in which a room is made.
type who struct {
	name     string
	launcher uint32   // who clones init
	becomes  bool     // the launcher becomes user before the room is built
	user     Identity // whose program it is
}

var everyone = []who{
	{"root", 0, true, Identity{0, 0, nil}},
	{"sudo", 0, true, Identity{ordinary, ordinary, []int{ordinary, 2002}}},
	{"rootless", ordinary, false, Identity{ordinary, ordinary, nil}},
}

// each runs the test once for each way, in a process of its own that is that user.
func each(t *testing.T, test func(t *testing.T, w who)) {
	for _, w := range everyone {
		t.Run(w.name, func(t *testing.T) { w.only(t, test) })
	}
}

// only runs the test in a process of its own, once.
func (w who) only(t *testing.T, test func(t *testing.T, w who)) {
	if os.Getenv(childEnv) == t.Name() {
		test(t, w)
		return
	}
	w.again(t)
}

// again runs this very test in a new process, by way of another program where one is named.
func (w who) again(t *testing.T, by ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("these tests make namespaces as root and as another user: run them as root")
	}
	var pattern []string
	for _, part := range strings.Split(t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	binary := "/proc/self/exe" // which the other user may execute, though not find
	if len(by) > 0 {
		binary, _ = os.Executable()
	}
	argv := append(by, binary, "-test.run="+strings.Join(pattern, "/"), "-test.v")
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), childEnv+"="+t.Name(), "GORACE=atexit_sleep_ms=0", "TMPDIR=/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: w.launcher, Gid: w.launcher, Groups: []uint32{w.launcher}}}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Fatalf("%v\n%s", err, out)
	}
	if testing.Verbose() {
		t.Logf("%s", out)
	}
}

// plan is a plan to run a shell command.
func (w who) plan(command string) Plan {
	return Plan{
		Argv: []string{"sh", "-c", command}, Env: []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}, Dir: "/", User: w.user,
		ResolvConf: []byte("nameserver 198.18.0.2\n"), Hosts: []byte("127.0.0.1 localhost\n::1 localhost\n"),
	}
}

// probe is a plan to run a function of this test binary in the room.
func (w who) probe(name string, args ...string) Plan {
	p := w.plan("")
	p.Argv = append([]string{"/proc/self/exe"}, args...) // init's, which is this one
	p.Env = append(p.Env, probeEnv+"="+name, "GORACE=atexit_sleep_ms=0")
	return p
}

// start is Start and Become.
func (w who) start(t *testing.T, o Options) *Launch {
	t.Helper()
	l, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if w.becomes {
		if err := l.Become(w.user); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// result is what a program wrote, and how it ended.
type result struct {
	out    string
	status Status
}

// run builds a room, serves it, and runs the plan's program to its end.
func (w who) run(t *testing.T, p Plan) result {
	t.Helper()
	return w.runWith(t, p, Options{}, "")
}

func (w who) runWith(t *testing.T, p Plan, o Options, input string) result {
	t.Helper()
	r, w2, err := os.Pipe()
	must(t, err)
	if o.Stdin == nil {
		in, out, err := os.Pipe()
		must(t, err)
		defer in.Close()
		_, err = io.WriteString(out, input)
		must(t, err)
		must(t, out.Close())
		o.Stdin = in
	}
	o.Stdout, o.Stderr = w2, w2
	l := w.start(t, o)
	must(t, w2.Close())
	room, err := l.Build(p)
	must(t, err)
	stop := serve(t, room)
	defer stop()
	must(t, l.Go())
	out, err := io.ReadAll(r)
	must(t, err)
	must(t, r.Close())
	status, err := l.Wait()
	must(t, err)
	return result{string(out), status}
}

// succeed fails the test where the program didn't end well.
func (r result) succeed(t *testing.T) string {
	t.Helper()
	if r.status != (Status{}) {
		t.Fatalf("the program ended with %+v\n%s", r.status, r.out)
	}
	return r.out
}

// serve answers whatever comes with what it is and, at the wire, where it went.
func serve(t *testing.T, room *Room) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	n := 0
	listen := func(l net.Listener, say func(c *net.TCPConn) string) {
		n++
		go func() { acceptAll(l, say); done <- struct{}{} }()
	}
	for _, l := range room.Wire {
		listen(l, sayOriginal)
	}
	for _, l := range room.DNSTCP {
		listen(l, func(*net.TCPConn) string { return "dns over tcp" })
	}
	for port, list := range room.Ports {
		for _, l := range list {
			listen(l, func(*net.TCPConn) string { return fmt.Sprint("port ", port) })
		}
	}
	for _, c := range room.DNSUDP {
		n++
		go func() { answerAll(c); done <- struct{}{} }()
	}
	return func() {
		room.close()
		for range n {
			<-done
		}
	}
}

func acceptAll(l net.Listener, say func(c *net.TCPConn) string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		io.WriteString(c, say(c.(*net.TCPConn))+"\n")
		c.Close()
	}
}

func sayOriginal(c *net.TCPConn) string {
	raw, err := c.SyscallConn()
	if err != nil {
		return err.Error()
	}
	said := ""
	raw.Control(func(fd uintptr) {
		to, err := originalDestination(int(fd), c.LocalAddr().(*net.TCPAddr).IP.To4() == nil)
		said = "wire " + to.String()
		if err != nil {
			said = err.Error()
		}
	})
	return said
}

func answerAll(c *net.UDPConn) {
	buf := make([]byte, 512)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			c.WriteToUDPAddrPort(append([]byte("dns over udp "), buf[:n]...), from)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lines are the lines of a text, trimmed.
func lines(s string) []string {
	var list []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// gone waits until a process is, by its pidfd.
func gone(t *testing.T, pidfd int) {
	t.Helper()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 10_000)
		if err == unix.EINTR {
			continue
		}
		if n != 1 {
			t.Fatalf("the process lives on: %v", err)
		}
		return
	}
}
