package netns

import (
	"os/signal"
	"unsafe"

	"golang.org/x/sys/unix"
)

// action is what the kernel does with a signal: its own struct sigaction, of which only the handler is of interest here.
type action [4]uint64

var (
	byDefault = action{} // SIG_DFL
	ignored   = action{1}
)

// setAction sets it and returns what it was. Package os/signal can't: it has no way back to the default, and to have it
// take a signal costs some of a millisecond, a tenth of a room's start.
func setAction(s unix.Signal, to action) (was action) {
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&to)), uintptr(unsafe.Pointer(&was)), 8, 0, 0)
	return was
}

// withstandSignals keeps the terminal's signals, which reach init as one of the foreground group, and the program's from
// ending it. The kernel spares pid 1 of a namespace every signal whose action is the default, SIGKILL and SIGSTOP too
// unless they come from outside (pid_namespaces(7)); so all it takes is to undo the Go runtime's handlers, which end the
// process. What the caller ignored stays ignored, as the program inherits that.
func withstandSignals() {
	for _, s := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGABRT} {
		if !signal.Ignored(s) {
			setAction(s, byDefault)
		}
	}
}
