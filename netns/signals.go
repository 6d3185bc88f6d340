package netns

import (
	"os/signal"
	"unsafe"

	"golang.org/x/sys/unix"
)

// withstandSignals keeps the terminal's signals, which reach init as one of the foreground group, and the program's from
// ending it. The kernel spares pid 1 of a namespace every signal whose action is the default, SIGKILL and SIGSTOP too
// unless they come from outside (pid_namespaces(7)); so all it takes is to undo the Go runtime's handlers, which end the
// process. os/signal can't, and to have it hand the signals out costs a millisecond, a tenth of the start.
//
// What the caller ignored stays ignored, as the program inherits that.
func withstandSignals() {
	for _, s := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGABRT} {
		if signal.Ignored(s) {
			continue
		}
		var action [4]uint64 // the kernel's struct sigaction; all zero is SIG_DFL
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	}
}
