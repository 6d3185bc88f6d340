package netns

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inNamespaces runs two functions on a thread with namespaces of its own; processes that it starts are in them.
func inNamespaces(t *testing.T, flags int, prepare, then func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		must(t, unix.Unshare(flags|unix.CLONE_FS))
		prepare()
		then()
	}()
	<-done
}

// inUserNamespace runs the test's own process as root of a user namespace of its own, whose limits it may set.
func inUserNamespace(t *testing.T) {
	t.Helper()
	var pattern []string
	for _, part := range strings.Split(t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	cmd := exec.Command("/proc/self/exe", "-test.run="+strings.Join(pattern, "/"), "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"="+t.Name(), "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
}

// The machine's IPv6 switched off, in a network namespace that stands for it.
func TestAMachineWithoutIPv6(t *testing.T) {
	for _, w := range everyone {
		t.Run(w.name, func(t *testing.T) {
			if os.Getenv(childEnv) == t.Name() {
				w.withoutIPv6(t)
				return
			}
			inNamespaces(t, unix.CLONE_NEWNET, func() {
				for _, which := range []string{"all", "default"} {
					must(t, os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/disable_ipv6", []byte("1"), 0))
				}
			}, func() { w.again(t) })
		})
	}
}

func (w who) withoutIPv6(t *testing.T) {
	if machineFamilies() != string(ipv4Only) {
		t.Fatal("IPv6 is on")
	}
	r, out, err := os.Pipe()
	must(t, err)
	l := w.start(t, Options{Stdout: out, Stderr: out})
	must(t, out.Close())
	p := w.probe("call", "tcp", "203.0.113.10:443", "", "udp", "9.9.9.9:53", "", "tcp", "127.0.0.1:5432", "",
		"tcp", "[2001:db8::10]:443", "", "udp", "[2001:db8::10]:53", "", "tcp", "[::1]:5432", "")
	p.Ports = []uint16{5432}
	room, err := l.Build(p)
	must(t, err)
	if room.IPv6 || len(room.Wire) != 1 || len(room.DNSUDP) != 1 || len(room.DNSTCP) != 1 || len(room.Ports[5432]) != 1 {
		t.Errorf("%+v", room)
	}
	stop := serve(t, room)
	defer stop()
	must(t, l.Go())
	buf := make([]byte, 4096)
	var said []byte
	for {
		n, err := r.Read(buf)
		said = append(said, buf[:n]...)
		if err != nil {
			break
		}
	}
	_, err = l.Wait()
	must(t, err)
	want := "wire 203.0.113.10:443|dns over udp who|port 5432|"
	got := strings.Join(lines(string(said)), "|")
	if !strings.HasPrefix(got, want) || strings.Count(got, "EADDRNOTAVAIL")+strings.Count(got, "ENETUNREACH") != 3 || strings.Contains(got, "late") {
		t.Errorf("%s", got)
	}
}
