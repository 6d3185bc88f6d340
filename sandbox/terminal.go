package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminal is the process's controlling terminal. The zero value is none.
//
// The program shares lnk's session and process group, so the kernel gives it ^C, ^\, ^Z and a hang-up itself, and the
// shell that started lnk stops and continues both. All that is left is to tell these from a signal that somebody sent to
// lnk alone.
type terminal struct{ file *os.File }

func openTerminal() terminal {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return terminal{}
	}
	return terminal{file}
}

// foreground says whether this process's group has the terminal now: then the kernel's signals from its keys go to the
// program as well.
func (t terminal) foreground() bool {
	if t.file == nil {
		return false
	}
	holder, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	return err == nil && holder == unix.Getpgrp()
}

func (t terminal) close() {
	if t.file != nil {
		t.file.Close()
	}
}
