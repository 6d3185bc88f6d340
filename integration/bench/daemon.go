package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"lnk/integration/internet"
)

// errAbsent is a program that isn't installed.
var errAbsent = errors.New("not installed")

// daemon is a program that runs until it is stopped, or until the namespaces end.
type daemon struct {
	cmd    *exec.Cmd
	output output
	ended  chan struct{}
}

// output keeps the first of what a program says.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text.Len() < 4<<10 {
		o.text.Write(p)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// startDaemon starts a program of root's, in a namespace or (nil) on the machine, and waits until ready says so.
func startDaemon(ctx context.Context, in *space, ready func() error, args ...string) (*daemon, error) {
	if !installed(args[0]) {
		return nil, errAbsent
	}
	d := &daemon{cmd: machine.Command(ctx, internet.Root, args...), ended: make(chan struct{})}
	d.cmd.Stdout, d.cmd.Stderr = &d.output, &d.output
	if err := in.start(d.cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	go func() {
		d.cmd.Wait()
		close(d.ended)
	}()
	if err := d.await(ctx, ready); err != nil {
		d.stop()
		return nil, fmt.Errorf("starting %s: %w\n%s", args[0], err, d.output.String())
	}
	return d, nil
}

// await asks ready again and again until it has no error, the program ends, or ten seconds have gone.
func (d *daemon) await(ctx context.Context, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-d.ended:
			return fmt.Errorf("it ended: %v", d.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("not ready in time: %w", err)
		}
	}
}

func (d *daemon) stop() {
	syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL)
	<-d.ended
}

// installed reports whether the machine has a program.
func installed(name string) bool {
	for _, dir := range []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// accepts is ready when somebody accepts connections at an address of the machine's, or of a namespace's.
func accepts(in *space, at netip.AddrPort) func() error {
	dial := func() error {
		c, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(at))
		if err == nil {
			c.Close()
		}
		return err
	}
	if in == nil {
		return dial
	}
	return func() error { return in.do(dial) }
}

// writeConf writes a program's configuration, for everybody to read.
func writeConf(name, text string) (string, error) {
	path := filepath.Join("/run", name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return "", fmt.Errorf("writing a peer's configuration: %w", err)
	}
	return path, nil
}
