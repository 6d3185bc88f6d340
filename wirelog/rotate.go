package wirelog

import (
	"crypto/rand"
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// numbered is the name of the k-th rotated file, counted from the newest.
func numbered(path string, k int) string { return path + "." + strconv.Itoa(k) }

// rotate makes the full log .1, and moves those before it up to the first number that is free. It always returns an
// error: errStale where the log must be looked at anew.
//
// The lock makes it one process's work. But a process that stopped in the midst of it isn't waited for, and goes on
// whenever it is woken, so every step is one that may come too late. First it notes which files there are, then it
// looks whether the log is still the one it means to rotate; after that it only moves what it noted: see move.
func (f *file) rotate() error {
	before, err := f.rotated()
	if err != nil {
		return err
	}
	if _, err := f.current(); err != nil {
		return err
	}
	free, err := f.makeRoom(before)
	if err != nil {
		return err
	}
	for k := free - 1; k >= 1; k-- {
		if err := move(numbered(f.path, k), numbered(f.path, k+1), idOf(before[k])); err != nil {
			return err
		}
	}
	if err := move(f.path, numbered(f.path, 1), f.id); err != nil {
		return err
	}
	return errStale
}

// rotated is what stands at each number, and at the one beyond; nil where nothing does.
func (f *file) rotated() ([]*unix.Stat_t, error) {
	all := make([]*unix.Stat_t, f.keep+2)
	for k := 1; k < len(all); k++ {
		st, err := lstat(numbered(f.path, k))
		switch {
		case err == nil:
			all[k] = &st
		case !errors.Is(err, unix.ENOENT):
			return nil, err
		}
	}
	return all, nil
}

// makeRoom returns the first free number: one where nothing is, or no file. Where none is free it drops the oldest
// file.
func (f *file) makeRoom(before []*unix.Stat_t) (int, error) {
	for k := 1; k <= f.keep; k++ {
		switch st := before[k]; {
		case st == nil:
			return k, nil
		case st.Mode&unix.S_IFMT != unix.S_IFREG:
			return k, setAside(numbered(f.path, k), idOf(st))
		}
	}
	return f.keep, f.drop(before[f.keep], before[f.keep+1])
}

// drop deletes the oldest file, under a number beyond those that are kept. Nothing that is still wanted ever has that
// number, so the deletion does no harm when it comes too late. What is there already is what a process left that was
// killed between the two.
func (f *file) drop(oldest, left *unix.Stat_t) error {
	beyond := numbered(f.path, f.keep+1)
	if left != nil && left.Mode&unix.S_IFMT != unix.S_IFREG {
		if err := setAside(beyond, idOf(left)); err != nil {
			return err
		}
	} else if err := remove(beyond); err != nil {
		return err
	}
	if err := move(numbered(f.path, f.keep), beyond, idOf(oldest)); err != nil {
		return err
	}
	return remove(beyond)
}

// setAside gives something that is no file (a link, a folder, a pipe), and that somebody else put in the log's way,
// another name. It is neither opened nor deleted.
func setAside(path string, id fileID) error {
	return move(path, path+".not-a-log-"+rand.Text()[:8], id)
}

// move renames a file and replaces nothing. It was decided when from was the file with that id. When this process slept
// since, from may be another file by now: that one goes back where it was or, if its place has been taken, stays
// between the same neighbours as before. Files never pass each other, so their order stays that of their lines.
func move(from, to string, id fileID) error {
	switch err := renameNoReplace(from, to); {
	case errors.Is(err, unix.ENOENT):
		return errStale
	case errors.Is(err, unix.EEXIST):
		return errStale
	case err != nil:
		return err
	}
	if st, err := lstat(to); err == nil && idOf(&st) == id {
		return nil
	}
	_ = renameNoReplace(to, from)
	return errStale
}

func renameNoReplace(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// Some file systems (NFS) can't. There the lock alone keeps two processes apart.
	if _, err := lstat(to); err == nil {
		return unix.EEXIST
	}
	return unix.Rename(from, to)
}

func remove(path string) error {
	if err := unix.Unlink(path); !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

func lstat(path string) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return st, err
}
