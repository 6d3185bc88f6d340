package nft

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// setCapabilities leaves the calling thread with these alone. The thread ends with its goroutine: it stays locked.
func setCapabilities(list ...uintptr) error {
	runtime.LockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	for _, c := range list {
		if c == 0 {
			continue
		}
		data[c/32].Effective |= 1 << (c % 32)
		data[c/32].Permitted |= 1 << (c % 32)
	}
	return unix.Capset(&header, &data[0])
}
