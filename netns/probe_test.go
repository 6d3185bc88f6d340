package netns

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A probe runs in a room as its program. It prints what it finds.
var probes = map[string]func(args []string) error{
	"call": probeCall,
	"send": probeSend,
}

func runProbe(name string, args []string) int {
	probe := probes[name]
	if probe == nil {
		fmt.Println("no such probe:", name)
		return 2
	}
	if err := probe(args); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// soon is more than what happens at once takes, and less than a SYN's second try.
const soon = 900 * time.Millisecond

func dialer(device string) *net.Dialer {
	return &net.Dialer{Timeout: 10 * time.Second, Control: func(_, _ string, c syscall.RawConn) error {
		if device == "" {
			return nil
		}
		var err error
		c.Control(func(fd uintptr) { err = unix.BindToDevice(int(fd), device) })
		return err
	}}
}

// probeCall connects to each address (network, address, device) and prints what is said there, or what is wrong.
func probeCall(args []string) error {
	for len(args) >= 3 {
		network, address, device := args[0], args[1], args[2]
		args = args[3:]
		start := time.Now()
		said, err := say(network, address, device)
		if err != nil {
			said = err.Error()
			if errno := unix.Errno(0); errors.As(err, &errno) {
				said = unix.ErrnoName(errno)
			}
			if time.Since(start) > soon {
				said += " late"
			}
		}
		fmt.Println(said)
	}
	return nil
}

func say(network, address, device string) (string, error) {
	conn, err := dialer(device).Dial(network, address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	if network == "udp" {
		if _, err := conn.Write([]byte("who")); err != nil {
			return "", err
		}
	}
	buf := make([]byte, 200)
	n, err := conn.Read(buf)
	if err != nil {
		return "", err
	}
	for n > 0 && buf[n-1] == '\n' {
		n--
	}
	return string(buf[:n]), nil
}

// probeSend tries what a program may not, each to its own errno.
func probeSend([]string) error {
	for _, attempt := range []struct {
		what string
		do   func() error
	}{
		{"a ping, IPv4", func() error {
			return ping(unix.AF_INET, unix.IPPROTO_ICMP, 8, &unix.SockaddrInet4{Addr: [4]byte{203, 0, 113, 10}})
		}},
		{"a ping, IPv6", func() error {
			return ping(unix.AF_INET6, unix.IPPROTO_ICMPV6, 128, &unix.SockaddrInet6{Addr: [16]byte{0x20, 1, 0xd, 0xb8, 15: 1}})
		}},
		{"a raw socket", func() error { return open2(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW) }},
		{"a packet socket", func() error { return open2(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
		{"a netfilter change", func() error { return deleteTable() }},
		{"bringing eth0 down", func() error { return setFlags("eth0", 0) }},
		{"another host name", func() error { return unix.Sethostname([]byte("other")) }},
		{"a mount", func() error { return unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "") }},
		{"unmounting /etc/resolv.conf", func() error { return unix.Unmount("/etc/resolv.conf", unix.MNT_DETACH) }},
		{"unmounting /proc", func() error { return unix.Unmount("/proc", unix.MNT_DETACH) }},
		{"tracing init", func() error { return unix.PtraceSeize(1) }},
		{"entering init's network", func() error { return enterNS("/proc/1/ns/net") }},
		{"reading init's descriptors", func() error { _, err := os.Readlink("/proc/1/fd/0"); return err }},
		{"reading init's memory", func() error { return openFile("/proc/1/mem") }},
		{"writing a kernel setting", func() error { return writeFile("/proc/sys/kernel/core_pattern") }},
		{"writing a setting of the room's network", func() error { return writeFile("/proc/sys/net/ipv4/ip_forward") }},
		{"becoming root", func() error { return unix.Setresuid(0, 0, 0) }},
		{"a mark", func() error { return mark() }},
	} {
		err := attempt.do()
		fmt.Printf("%s: %v\n", attempt.what, err)
	}
	return nil
}

func open2(domain, kind, protocol int) error {
	fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC, protocol)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func ping(domain, protocol int, kind byte, to unix.Sockaddr) error {
	fd, err := unix.Socket(domain, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, to); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5}); err != nil {
		return err
	}
	if _, err := unix.Write(fd, append([]byte{kind}, make([]byte, 15)...)); err != nil {
		return err
	}
	_, err = unix.Read(fd, make([]byte, 64)) // of an ICMPv6 echo the kernel doesn't say at once that it was refused
	return err
}

func openFile(path string) error {
	f, err := os.Open(path)
	if err == nil {
		f.Close()
	}
	return err
}

func writeFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		f.Close()
	}
	return err
}

func setFlags(name string, flags uint16) error {
	ifs, err := openInterfaces()
	if err != nil {
		return err
	}
	defer ifs.close()
	req, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	req.SetUint16(flags)
	return unix.IoctlIfreq(ifs.fd, unix.SIOCSIFFLAGS, req)
}

func enterNS(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Setns(fd, unix.CLONE_NEWNET)
}

func mark() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_MARK, 1)
}
