package netns

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Become makes the launcher, all its threads, that user for good: without any capability, and with no saved id to go back
// to. Where it is that user already it only gives up its capabilities. The launcher stays undumpable then, as the kernel
// makes each process that changes its user: no other process of that user can read its memory.
//
// A binary that was built with cgo can't change the capabilities of all its threads (see syscall.AllThreadsSyscall): there,
// root that stays root keeps them.
func (l *Launch) Become(id Identity) error {
	if err := become(id); err != nil {
		return fmt.Errorf("becoming user %d: %w", id.UID, err)
	}
	return nil
}

func become(id Identity) error {
	if id.UID < 0 || id.GID < 0 {
		return fmt.Errorf("group %d: %w", id.GID, unix.EINVAL)
	}
	if !is(id) {
		if err := setUser(id); err != nil {
			return err
		}
	}
	var all threads
	if err := all.capset(0, 0); err != nil {
		return err
	}
	return checkIdentity(id)
}

// setUser changes all threads, in binaries with cgo too: package syscall leaves it to the C library there.
func setUser(id Identity) error {
	if err := syscall.Setgroups(id.Groups); err != nil {
		return fmt.Errorf("setting groups %v: %w", id.Groups, err)
	}
	if err := syscall.Setresgid(id.GID, id.GID, id.GID); err != nil {
		return fmt.Errorf("setting group %d: %w", id.GID, err)
	}
	if err := syscall.Setresuid(id.UID, id.UID, id.UID); err != nil {
		return fmt.Errorf("setting user %d: %w", id.UID, err)
	}
	return nil
}

// is tells whether this process is that user in every respect. Groups that it has no right to set are the caller's own.
func is(id Identity) bool {
	if checkIDs(id) != nil {
		return false
	}
	may, err := permitted()
	if err == nil && may&capabilities(unix.CAP_SETGID) == 0 {
		return true
	}
	groups, err := os.Getgroups()
	return err == nil && slices.Equal(sorted(groups), sorted(id.Groups))
}

func sorted(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// checkIdentity asks whether this process is that user and can't be another again.
func checkIdentity(id Identity) error {
	if err := checkIDs(id); err != nil {
		return err
	}
	if id.UID != 0 && syscall.Setresuid(0, 0, 0) == nil {
		return errors.New("there is a way back to root")
	}
	return nil
}

func checkIDs(id Identity) error {
	ruid, euid, suid := unix.Getresuid()
	rgid, egid, sgid := unix.Getresgid()
	if [3]int{ruid, euid, suid} != [3]int{id.UID, id.UID, id.UID} || [3]int{rgid, egid, sgid} != [3]int{id.GID, id.GID, id.GID} {
		return fmt.Errorf("user %d, %d, %d and group %d, %d, %d, not %d and %d", ruid, euid, suid, rgid, egid, sgid, id.UID, id.GID)
	}
	return nil
}
