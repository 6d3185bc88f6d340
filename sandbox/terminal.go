package sandbox

import (
	"errors"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// terminal is the process's controlling terminal. The zero value is none.
//
// The program shares lnk's session and process group, so the kernel gives it ^C, ^\, ^Z and a hang-up itself, and the
// shell that started lnk stops and continues both. All that is left to do is to tell these from a signal that somebody sent
// to lnk alone, and to hand the terminal back where the program left it with a process group that is gone.
type terminal struct {
	tty   *os.File
	group int  // this process's group
	ours  bool // it had the terminal at the start
}

func openTerminal() terminal {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return terminal{}
	}
	t := terminal{tty: tty, group: unix.Getpgrp()}
	t.ours = t.foreground()
	return t
}

// foreground says whether this process's group has the terminal now: then the kernel's signals from its keys go to the
// program as well.
func (t terminal) foreground() bool {
	holder, ok := t.holder()
	return ok && holder == t.group
}

func (t terminal) holder() (int, bool) {
	if t.tty == nil {
		return 0, false
	}
	holder, err := unix.IoctlGetInt(int(t.tty.Fd()), unix.TIOCGPGRP)
	return holder, err == nil
}

// close gives the terminal back to this process's group where the group that has it is gone, and lets go of it. An
// interactive shell inside takes the terminal for itself and, in a pid namespace of its own, can't name the group
// to give it back to (to it, the group's number is 0).
func (t terminal) close() {
	if t.tty == nil {
		return
	}
	defer t.tty.Close()
	holder, ok := t.holder()
	if !ok || !t.ours || holder == t.group || !errors.Is(unix.Kill(-holder, 0), unix.ESRCH) {
		return
	}
	signal.Ignore(unix.SIGTTOU) // what a process outside the terminal's group gets for setting it (ioctl_tty(2))
	defer signal.Reset(unix.SIGTTOU)
	_ = unix.IoctlSetPointerInt(int(t.tty.Fd()), unix.TIOCSPGRP, t.group)
}
