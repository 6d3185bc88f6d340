package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Ensure makes the folders that are missing and closes those that are there to everybody else: mode 700. It fails where
// a folder belongs to another user, is something else than a folder, or could be written by everybody: what is in such
// a one may be anybody's.
func (h Home) Ensure() error {
	if h.dir == "" {
		return fmt.Errorf("settings folder: none is set")
	}
	// MkdirAll for the folder's parents alone: those are the user's business, and get no check.
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return fmt.Errorf("making the settings folder: %w", err)
	}
	for _, dir := range []string{
		h.dir, h.path("sandbox"), h.PausedFolder(), h.TrafficFolder(), h.RunsFolder(), h.OnStopFolder(), h.SpecsFolder(),
		h.AgentFolder(),
	} {
		if err := ensureFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

// ensureFolder follows a link: from the settings folder down, nobody but the user could have made it, and settings
// kept elsewhere by a link are common. What it leads to is checked all the same.
func ensureFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the settings folder: %w", err)
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("settings folder %s: opening it: %w", dir, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("settings folder %s: %w", dir, err)
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return fmt.Errorf("settings folder %s: belongs to user %d, not to %d", dir, st.Uid, uid)
	}
	return closeFolder(fd, dir, st.Mode&0o777)
}

func closeFolder(fd int, dir string, mode uint32) error {
	if mode&0o002 != 0 {
		return fmt.Errorf("settings folder %s: everybody may write to it (mode %o): see what is in it, then make it 700",
			dir, mode)
	}
	if mode == 0o700 {
		return nil
	}
	if err := unix.Fchmod(fd, 0o700); err != nil {
		return fmt.Errorf("settings folder %s: making its mode 700: %w", dir, err)
	}
	return nil
}
