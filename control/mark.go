package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// errNotPlain is what reading or inscribing a mark fails with that isn't a regular file.
var errNotPlain = errors.New("not a regular file")

// again repeats a system call that a signal interrupted (signal(7): a slow file system can return EINTR).
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// claim makes an empty mark at path, mode 600, unless a file of any kind is there: fs.ErrExist then, also for a
// dangling link (mknod(2)). mknod needs no descriptor and, on most file systems, no free block, so a pause can be made
// when nothing else can. Making a regular file needs no privilege; where a filter on system calls forbids it, open does
// it.
func claim(path string) error {
	err := again(func() error { return unix.Mknod(path, unix.S_IFREG|0o600, 0) })
	if err == unix.EPERM || err == unix.ENOSYS || err == unix.EOPNOTSUPP {
		err = claimOpening(path)
	}
	return pathError("making", path, err)
}

func claimOpening(path string) error {
	return again(func() error {
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err == nil {
			unix.Close(fd)
		}
		return err
	})
}

// inscribe writes the note into a mark that was claimed. It makes no file: a mark that was removed meanwhile stays
// removed (fs.ErrNotExist), and one that holds text keeps it (fs.ErrExist).
func inscribe(path string, n note) error {
	return withMark(path, unix.O_WRONLY, func(fd int, st *unix.Stat_t) error {
		if st.Size > 0 {
			return fs.ErrExist
		}
		text := []byte(n.text())
		var wrote int
		err := again(func() (err error) { wrote, err = unix.Write(fd, text); return err })
		if err == nil && wrote < len(text) {
			err = unix.ENOSPC
		}
		return err
	})
}

// read returns the note of the mark at path; since falls back to the file's own time.
func read(path string) (note, error) {
	var n note
	err := withMark(path, unix.O_RDONLY, func(fd int, st *unix.Stat_t) error {
		buf := make([]byte, maxNote)
		var got int
		err := again(func() (err error) { got, err = unix.Read(fd, buf); return err })
		if err != nil {
			return err
		}
		n = parseNote(string(buf[:got]))
		if n.since.IsZero() {
			n.since = modified(st)
		}
		return nil
	})
	return n, err
}

// withMark opens a mark that is a regular file. It follows no link, and O_NONBLOCK keeps a FIFO from holding it up.
func withMark(path string, flags int, use func(fd int, st *unix.Stat_t) error) error {
	var fd int
	err := again(func() (err error) {
		fd, err = unix.Open(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return pathError("opening", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return pathError("looking at", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return pathError("opening", path, errNotPlain)
	}
	return pathError("using", path, use(fd, &st))
}

// remove takes a mark away, whatever it is; a folder only if it is empty. fs.ErrNotExist if there is none.
func remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, unix.ENOTEMPTY) {
		return fmt.Errorf("removing %s: it is a folder that holds files; empty it first", path)
	}
	if err != nil {
		return fmt.Errorf("removing %s: %w", path, bare(err))
	}
	return nil
}

func modified(st *unix.Stat_t) time.Time { return time.Unix(st.Mtim.Unix()) }

func pathError(doing, path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", doing, path, err)
}

// bare is the error without the operation and path that os put around it.
func bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
