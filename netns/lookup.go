package netns

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// target is a place that something is mounted on, held open: whatever happens to its path, it stays the same.
type target struct {
	fd     int
	folder bool
}

// lookUp opens what the steps are about. It keeps the order of the list: targets[i] are step i's.
func (f *furnisher) lookUp(list []step) error {
	f.targets = make([][]target, len(list))
	var mounts []mountPoint
	for i, s := range list {
		var err error
		switch s.do {
		case doPut:
			// Not followed: what is mounted on a symbolic link is seen instead of it, wherever it leads and even nowhere.
			f.targets[i], err = openTarget(s.path, unix.O_NOFOLLOW)
			if s.optional && errors.Is(err, unix.ENOENT) {
				err = nil
			}
		case doCover:
			if mounts == nil {
				if mounts, err = readMounts(); err != nil {
					return err
				}
			}
			f.targets[i], err = openEverywhere(s.path, mounts)
		}
		if err != nil {
			return fmt.Errorf("mounts: looking up %s: %w", s.path, err)
		}
	}
	return nil
}

func openTarget(path string, flags int) ([]target, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return []target{{fd, st.Mode&unix.S_IFMT == unix.S_IFDIR}}, nil
}

// openEverywhere opens path and every other path by which the same file or folder, or a part of it, is mounted.
func openEverywhere(path string, mounts []mountPoint) ([]target, error) {
	list, err := openTarget(path, 0)
	if err != nil {
		return nil, err
	}
	others, err := aliases(list[0].fd, mounts)
	if err != nil {
		closeTargets(list)
		return nil, err
	}
	for _, other := range others {
		more, err := openTarget(other.path, unix.O_NOFOLLOW)
		if err != nil {
			continue // under another mount, or out of everyone's reach: it can't be seen by that path
		}
		if !other.same(more[0].fd) {
			closeTargets(more)
			continue
		}
		list = append(list, more...)
	}
	return list, nil
}

func closeTargets(list []target) {
	for _, t := range list {
		unix.Close(t.fd)
	}
}

// alias is another path that should lead to a file, or to what is below it.
type alias struct {
	path     string
	of       fileID
	anything bool // a mount of something below: only the device is known
}

// fileID is what tells a file from all others.
type fileID struct{ dev, ino uint64 }

func identify(fd int) (fileID, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return fileID{st.Dev, st.Ino}, err
}

func (a alias) same(fd int) bool {
	is, err := identify(fd)
	return err == nil && (is == a.of || a.anything && is.dev == a.of.dev)
}

// aliases finds the paths by which other mounts of the same filesystem show the file.
func aliases(fd int, mounts []mountPoint) ([]alias, error) {
	of, err := identify(fd)
	if err != nil {
		return nil, err
	}
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return nil, err
	}
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st); err != nil {
		return nil, err
	}
	home, ok := find(mounts, st.Mnt_id)
	if !ok {
		return nil, nil // its mount isn't in this namespace: an open folder of elsewhere
	}
	within := join(home.root, cut(path, home.at))
	var list []alias
	for _, m := range mounts {
		if m.id == home.id || m.device != home.device {
			continue
		}
		if below(within, m.root) {
			list = append(list, alias{path: join(m.at, cut(within, m.root)), of: of})
		} else if below(m.root, within) {
			list = append(list, alias{path: m.at, of: of, anything: true})
		}
	}
	return list, nil
}
