package internet

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// daemon is a real server in the internet's namespace. It ends with the world.
type daemon struct {
	cmd    *exec.Cmd
	output lockedBuffer
	ended  chan struct{}
}

// lockedBuffer keeps what a server says.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start starts a server in the internet, as a user, and waits until ready says so.
func (n *network) start(uid, gid int, ready func() error, path string, args ...string) (*daemon, error) {
	d := &daemon{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = "/", &d.output, &d.output
	d.cmd.Env = []string{"PATH=" + searchPath, "LC_ALL=C.UTF-8"}
	d.cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)},
	}
	if err := n.do(d.cmd.Start); err != nil {
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(path), err)
	}
	go func() {
		d.cmd.Wait()
		close(d.ended)
	}()
	ctx, cancel := within(20 * time.Second)
	defer cancel()
	if err := d.await(ctx, ready); err != nil {
		d.stop()
		return nil, fmt.Errorf("starting %s: %w\n%s", filepath.Base(path), err, d.output.String())
	}
	return d, nil
}

// await asks ready again and again until it has no error, the server ends, or ctx does.
func (d *daemon) await(ctx context.Context, ready func() error) error {
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

// stop ends the server and all its session, and waits for it.
func (d *daemon) stop() {
	unix.Kill(-d.cmd.Process.Pid, unix.SIGKILL)
	<-d.ended
}

// folder makes a server's folder below serverDir, of that user's own.
func folder(name string, owner int, mode os.FileMode) (string, error) {
	dir := filepath.Join(serverDir, name)
	if err := os.MkdirAll(dir, mode); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, mode); err != nil {
		return "", err
	}
	return dir, os.Chown(dir, owner, owner)
}

func truncate(path string) error {
	if err := os.Truncate(path, 0); err != nil {
		return fmt.Errorf("emptying a server's record: %w", err)
	}
	return nil
}
