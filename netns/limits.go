package netns

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// descriptors is how many the launcher would like to be able to have open: eight times the calls that a wire takes.
const descriptors = 131072

// raiseDescriptors raises the launcher's own limit as far as it may. Init has been cloned by then, so the program keeps
// the caller's. What the kernel refuses stays as it was: a smaller number of calls at once is all that follows.
func raiseDescriptors() {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil {
		return
	}
	want := min(descriptors, openMax())
	if now.Cur >= want {
		return
	}
	raised := unix.Rlimit{Cur: want, Max: max(now.Max, want)}
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
		return
	}
	raised = unix.Rlimit{Cur: min(want, now.Max), Max: now.Max} // a hard limit takes CAP_SYS_RESOURCE
	unix.Setrlimit(unix.RLIMIT_NOFILE, &raised)
}

// openMax is the most that the kernel lets any limit be.
func openMax() uint64 {
	text, err := os.ReadFile("/proc/sys/fs/nr_open")
	if err != nil {
		return descriptors
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return descriptors
	}
	return n
}
