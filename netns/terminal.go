package netns

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminal is the launcher's terminal, if the launcher's process group was in its foreground when the program started. A
// program that makes a group of its own the foreground one (a shell does) and ends without giving it back would leave the
// terminal to a group of nobody: whoever reads next is stopped or gets an error.
type terminal struct {
	file  *os.File
	group int
}

// hasTerminal says whether the launcher has a terminal. Where it has none there is no job control, and the program gets a process group of its
// own: a signal to one's own group (kill(2), pid 0) reaches all of it, whatever the pid namespace, and would reach the launcher and
// whoever shares its group.
func hasTerminal() bool {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	file.Close()
	return true
}

func foreground() terminal {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return terminal{} // there is none
	}
	group, err := unix.IoctlGetInt(int(file.Fd()), unix.TIOCGPGRP)
	if err != nil || group != unix.Getpgrp() {
		file.Close()
		return terminal{}
	}
	return terminal{file, group}
}

// giveBack makes the launcher's group the foreground one again where it isn't.
func (t terminal) giveBack() {
	if t.file == nil {
		return
	}
	defer t.file.Close()
	now, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	if err == nil && now != t.group {
		// The kernel stops those in the background who do this, but not who ignores SIGTTOU, as the launcher does by now.
		unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, t.group)
	}
}
