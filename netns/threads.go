package netns

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// threads changes what Linux keeps for each thread and POSIX for the process: capabilities, and what prctl sets. The Go
// runtime can make a system call on all of its threads, but not in a binary that was built with cgo (the race detector's
// is), where C may have threads of its own. There only the calling thread is changed, and onlyOne says so.
//
// Users and groups need none of this: package syscall changes them on all threads in both.
type threads struct{ onlyOne bool }

func (t *threads) prctl(option, arg uintptr) error {
	_, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, option, arg, 0, 0, 0, 0)
	if errno == syscall.ENOTSUP {
		t.onlyOne = true
		return unix.Prctl(int(option), arg, 0, 0, 0)
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// capset sets the effective and permitted set to held, and the inheritable one.
func (t *threads) capset(held, inheritable Capabilities) error {
	header, data := capabilityData(held, held, inheritable)
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data[0])), 0)
	if errno == syscall.ENOTSUP {
		t.onlyOne = true
		return capset(held, inheritable)
	}
	if errno != 0 {
		return fmt.Errorf("setting capabilities: %w", errno)
	}
	return nil
}

// capset is the calling thread's alone.
func capset(held, inheritable Capabilities) error {
	header, data := capabilityData(held, held, inheritable)
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("setting capabilities: %w", err)
	}
	return nil
}

// permitted is what the calling thread may have.
func permitted() (Capabilities, error) {
	header, data := capabilityData(0, 0, 0)
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0, fmt.Errorf("reading capabilities: %w", err)
	}
	return Capabilities(data[1].Permitted)<<32 | Capabilities(data[0].Permitted), nil
}

func capabilityData(effective, permitted, inheritable Capabilities) (unix.CapUserHeader, [2]unix.CapUserData) {
	var data [2]unix.CapUserData
	for i := range data {
		shift := 32 * i
		data[i] = unix.CapUserData{
			Effective: uint32(effective >> shift), Permitted: uint32(permitted >> shift), Inheritable: uint32(inheritable >> shift),
		}
	}
	return unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, data
}

func capabilities(list ...int) Capabilities {
	var set Capabilities
	for _, c := range list {
		set |= 1 << c
	}
	return set
}
