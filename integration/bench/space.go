package main

import (
	"fmt"
	"os/exec"
	"runtime"

	"github.com/vishvananda/netns"
)

// space is a network namespace with a name, as `ip netns` knows it.
type space struct {
	name   string
	handle netns.NsHandle
}

// newSpace makes a namespace on a thread that is given up for it.
func newSpace(name string) (*space, error) {
	s := &space{name: name}
	err := onItsOwnThread(func() (err error) {
		s.handle, err = netns.NewNamed(name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("making the namespace %s: %w", name, err)
	}
	return s, nil
}

// do calls f on a thread inside the namespace.
func (s *space) do(f func() error) error {
	return onItsOwnThread(func() error {
		if err := netns.Set(s.handle); err != nil {
			return fmt.Errorf("entering the namespace %s: %w", s.name, err)
		}
		return f()
	})
}

// start starts a command inside the namespace; a nil space is the machine itself.
func (s *space) start(cmd *exec.Cmd) error {
	if s == nil {
		return cmd.Start()
	}
	return s.do(cmd.Start)
}

// onItsOwnThread calls f on a thread that ends with it, and with it whatever namespace it went to.
func onItsOwnThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		done <- f()
	}()
	return <-done
}
