package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"lnk/settings"
)

// dropStale removes the record of a run that is gone, and the pause that was to go with it. A *TakenError where the
// run is there after all.
//
// Looking and removing are two steps; in between, the record may have been replaced by a new run's. So whoever removes a
// record that isn't its own does both under one lock: then what was looked at is what is removed, since a new run's
// record can only be linked where there is none. The lock ends with its holder.
func dropStale(home settings.Home, name settings.Name) error {
	unlock, err := lockRuns(home)
	if err != nil {
		return fmt.Errorf("replacing the record of %s: %w", name, err)
	}
	defer unlock()
	path := home.Run(name)
	r, err := readRunning(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && r.Running() {
		return &TakenError{r}
	}
	if err == nil && r.Unnamed {
		_ = os.Remove(home.Paused(name)) // a pause that stays refuses nobody but its own name
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replacing the record of %s: %w", name, err)
	}
	return nil
}

// lockRuns holds the folder's lock, a file of its own: flock(2) on a folder isn't to be had over NFS.
func lockRuns(home settings.Home) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(home.RunsFolder(), ".lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", f.Name(), err)
	}
	return func() { f.Close() }, nil
}
