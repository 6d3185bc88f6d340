package netns

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Init gives up what it may in two steps. For the mounts it is the program's user already, so that no path is looked up
// with another's eyes: what that user's FUSE or NFS folder shows to nobody else is found, and nothing is touched as root.
// It keeps what mounting takes. Then it keeps nothing.
//
// All of it happens on the thread that later forks the program. The program inherits that thread's bounding set and
// securebits; the other threads of init keep theirs, which gain them nothing with no_new_privs and no capability.

// mounting is what a thread needs for the mounts, and to drop the rest afterwards. CAP_DAC_READ_SEARCH finds a path to be
// covered below a folder that is closed to the user now and may not be later.
var mounting = capabilities(unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_READ_SEARCH)

// assume makes init the program's user, with what mounting takes.
func assume(all *threads, to goBody) error {
	if err := keep(all, to.Capabilities); err != nil {
		return fmt.Errorf("keeping capabilities: %w", err)
	}
	if !to.UserNS && !is(to.User) {
		if err := setUser(to.User); err != nil {
			return err
		}
	}
	may, err := permitted()
	if err != nil {
		return err
	}
	return capset(may&(mounting|to.Capabilities), 0)
}

// keep lets a change of user leave this thread its capabilities, and the others too where the program keeps some.
func keep(all *threads, kept Capabilities) error {
	if kept == 0 {
		return unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0)
	}
	return all.prctl(unix.PR_SET_KEEPCAPS, 1)
}

// relinquish leaves init with kept, and the program with no way to more: no setuid or setcap program, and no exec as root,
// gains anything.
func relinquish(all *threads, to goBody) error {
	kept := to.Capabilities
	if err := dropBounding(kept); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, securebits(kept), 0, 0, 0); err != nil {
		return fmt.Errorf("setting securebits: %w", err)
	}
	if err := all.prctl(unix.PR_SET_NO_NEW_PRIVS, 1); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	if err := all.capset(kept, kept); err != nil {
		return err
	}
	if err := raiseAmbient(kept); err != nil {
		return err
	}
	if err := conceal(); err != nil {
		return err
	}
	return verify(to)
}

// verify trusts no return value: it asks again.
func verify(to goBody) error {
	if err := checkIdentity(to.User); err != nil {
		return err
	}
	may, err := permitted()
	if err == nil && may&^to.Capabilities != 0 {
		err = fmt.Errorf("still holding the capabilities %#x", uint64(may))
	}
	return err
}

// conceal keeps other processes of the same user out of init's memory and descriptors, and arms the parent-death signal,
// which a change of user disarms.
func conceal() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("making init undumpable: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("arming the parent-death signal: %w", err)
	}
	return nil
}

// dropBounding goes up to the kernel's last capability, which it tells by EINVAL.
func dropBounding(kept Capabilities) error {
	for c := 0; ; c++ {
		if kept&capabilities(c) != 0 {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("dropping capability %d for good: %w", c, err)
		}
	}
}

// The securebits of linux/securebits.h, each with its lock.
const (
	bitNoRoot         = 0b11 << 0
	bitNoSetuidFixup  = 0b11 << 2
	bitKeepCapsLocked = 0b10 << 4
	bitNoAmbientRaise = 0b11 << 6
)

func securebits(kept Capabilities) uintptr {
	if kept != 0 {
		return bitNoRoot | bitNoSetuidFixup | bitKeepCapsLocked
	}
	return bitNoRoot | bitNoSetuidFixup | bitKeepCapsLocked | bitNoAmbientRaise
}

// raiseAmbient lets what the program keeps pass through exec.
func raiseAmbient(kept Capabilities) error {
	for c := 0; kept>>c != 0; c++ {
		if kept&capabilities(c) == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, uintptr(c), 0, 0); err != nil {
			return fmt.Errorf("keeping capability %d: %w", c, err)
		}
	}
	return nil
}
