package nft

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// childEnv names the one test that a process in fresh namespaces runs.
const childEnv = "LNK_TEST_CHILD"

// uid is the ordinary user that tests take on; the machine doesn't have to know it.
const uid = 1001

// inside runs the test in a new network namespace of its own: once as root, and once as an ordinary user in a new user
// namespace, with just the capabilities that a room's init has there and CAP_NET_RAW, so that a test can send anything.
func inside(t *testing.T, test func(t *testing.T)) {
	for _, who := range []struct {
		name string
		sys  *syscall.SysProcAttr
	}{
		{"as root", &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS}},
		{"rootless", &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			Credential:  &syscall.Credential{Uid: uid, Gid: uid, NoSetGroups: true},
			AmbientCaps: []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_NET_RAW},
		}},
	} {
		t.Run(who.name, func(t *testing.T) {
			if os.Getenv(childEnv) == t.Name() {
				test(t)
				return
			}
			again(t, who.sys)
		})
	}
}

func again(t *testing.T, sys *syscall.SysProcAttr) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("these tests make namespaces as root and as another user: run them as root")
	}
	var pattern []string
	for _, part := range strings.Split(t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "-test.run="+strings.Join(pattern, "/"), "-test.v", fmt.Sprintf("-update=%v", *update))
	cmd.Env = append(os.Environ(), childEnv+"="+t.Name(), "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = sys
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Fatalf("%v\n%s", err, out)
	}
	if testing.Verbose() {
		t.Logf("%s", out)
	}
}

// link is the room's, and far its other end.
const link, far = "eth0", "far0"

// ports are what a room has.
var ports = Ports{Wire4: 1, Wire6: 1, DNS4: 53, DNS6: 53}

// links makes what a room's init makes before the table: lo, and a link whose other end is inside as well.
func links(t *testing.T) {
	t.Helper()
	for _, name := range []string{"default/accept_dad", "default/addr_gen_mode"} {
		value := map[string]string{"default/accept_dad": "0", "default/addr_gen_mode": "1"}[name]
		must(t, os.WriteFile("/proc/sys/net/ipv6/conf/"+name, []byte(value), 0))
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = link
	must(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: far}))
	for _, name := range []string{"lo", far, link} {
		must(t, netlink.LinkSetUp(device(t, name)))
	}
	must(t, netlink.LinkSetARPOff(device(t, link)))
	index := device(t, link).Attrs().Index
	for _, addr := range []string{Addr4.String() + "/32", Addr6.String() + "/128"} {
		parsed, err := netlink.ParseAddr(addr)
		must(t, err)
		parsed.Flags = unix.IFA_F_NODAD
		must(t, netlink.AddrAdd(device(t, link), parsed))
		if parsed.IP.To4() == nil { // the kernel's own comes later
			must(t, netlink.RouteAdd(&netlink.Route{LinkIndex: index, Dst: parsed.IPNet, Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL}))
		}
	}
	for _, gateway := range []string{"198.18.0.2", "fd6c:6e6b::2"} {
		must(t, netlink.RouteAdd(&netlink.Route{LinkIndex: index, Gw: net.ParseIP(gateway), Flags: int(netlink.FLAG_ONLINK)}))
	}
}

func device(t *testing.T, name string) netlink.Link {
	t.Helper()
	found, err := netlink.LinkByName(name)
	must(t, err)
	return found
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runNft runs the nft command, which only tests do.
func runNft(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("nft", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("nft %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
