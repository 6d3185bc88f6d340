package wirelog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockWait is how long a line waits for another process that writes or rotates, which takes microseconds; one
// that takes longer is stopped, and isn't waited for a second time.
const lockWait = 250 * time.Millisecond

// errStale says that what this process has open is no longer the log: another process rotated, or somebody moved it.
var errStale = errors.New("the log was replaced")

// fileID is what tells two files apart, whatever they are called. A file that is open here keeps its number.
type fileID struct{ dev, ino uint64 }

func idOf(st *unix.Stat_t) fileID { return fileID{st.Dev, st.Ino} }

// file is the log's current file as one process has it open. The package's doc says what holds and why.
type file struct {
	path  string
	limit int64 // octets that rotation keeps it to
	keep  int   // rotated files
	fd    int   // -1: none is open
	id    fileID
	end   int64 // where this process's last line ended; the octet before is a newline
	stuck bool  // whoever had the lock last didn't give it back in time
}

// append writes one line, in one write, to the file that is the log at that moment.
func (f *file) append(line []byte) error {
	const passes = 100 // each but the last lost to another process that rotated in the microseconds between
	for range passes {
		err := f.try(line)
		if err == nil {
			return nil
		}
		f.close()
		if !errors.Is(err, errStale) {
			return fmt.Errorf("writing the log %s: %w", f.path, err)
		}
	}
	return fmt.Errorf("writing the log %s: it was replaced %d times within one line", f.path, passes)
}

// try is one pass. After an error the file must be closed, which gives the lock back as well.
func (f *file) try(line []byte) error {
	if err := f.open(); err != nil {
		return err
	}
	held := f.lock()
	size, err := f.current()
	if err != nil {
		return err
	}
	if size > 0 && size+int64(len(line)) > f.limit {
		return f.rotate()
	}
	if err := f.put(line, size, held); err != nil {
		return err
	}
	if held {
		return unix.Flock(f.fd, unix.LOCK_UN)
	}
	return nil
}

// open opens the log where it isn't open, and makes it where it is missing. It must be a file of this user's own with
// no other name; nothing else is ever opened for long, and no link is followed.
func (f *file) open() error {
	if f.fd >= 0 {
		return nil
	}
	if err := beforeOpen(f.path); err != nil {
		return err
	}
	fd, err := unix.Open(f.path, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT|openFlags, 0o600)
	if err != nil {
		return err
	}
	st, err := ownFile(fd)
	if err == nil && st.Nlink > 1 {
		err = fmt.Errorf("it has %d names", st.Nlink)
	}
	if err == nil && st.Mode&0o7777 != 0o600 {
		err = unix.Fchmod(fd, 0o600)
	}
	if err != nil {
		unix.Close(fd)
		return err
	}
	f.fd, f.id, f.end = fd, idOf(&st), -1
	return nil
}

// openFlags follow no link, wait for no pipe, take no terminal, and hand nothing to a program that is started.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// beforeOpen looks without opening, since to open some things (a device, a pipe) does something to them.
func beforeOpen(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is %s, not a file", kind(info.Mode()))
	}
	return nil
}

func kind(m fs.FileMode) string {
	switch m.Type() {
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeDir:
		return "a folder"
	case fs.ModeNamedPipe:
		return "a pipe"
	case fs.ModeSocket:
		return "a socket"
	}
	return "a device"
}

// ownFile checks what was opened: a regular file of this user's.
func ownFile(fd int) (unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return st, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return st, errors.New("it is no regular file")
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return st, fmt.Errorf("it belongs to user %d, not to %d", st.Uid, uid)
	}
	return st, nil
}

// ownFolder checks that the log's folder is this user's: as root in somebody's folder it would make a log that this
// user can't write any more.
func ownFolder(path string) error {
	var st unix.Stat_t
	if err := unix.Stat(filepath.Dir(path), &st); err != nil {
		return fmt.Errorf("its folder: %w", err)
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return fmt.Errorf("its folder belongs to user %d, not to %d", st.Uid, uid)
	}
	return nil
}

// current is the log's size, or errStale where the log is another file than the one that is open.
func (f *file) current() (int64, error) {
	st, err := look(unix.AT_FDCWD, f.path, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return 0, errStale
	}
	if err != nil {
		return 0, err
	}
	if (fileID{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}) != f.id {
		return 0, errStale
	}
	return int64(st.Size), nil
}

// look asks for no times. Since Linux 6.13 (multigrain timestamps) a file whose times were asked for gets new ones with
// its next write, where otherwise it does every few milliseconds: a line would cost a sixth more on ext4.
func look(folder int, path string, flags int) (st unix.Statx_t, err error) {
	err = unix.Statx(folder, path, flags, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_SIZE|unix.STATX_NLINK, &st)
	return st, err
}

// put writes the line after the size octets that are there.
func (f *file) put(line []byte, size int64, held bool) error {
	if size > 0 && size != f.end && f.torn(size) {
		line = append([]byte{'\n'}, line...)
	}
	n, err := write(f.fd, line)
	if err != nil {
		if held {
			f.undo(size, n)
		}
		return err
	}
	f.end = size + int64(n)
	if st, err := look(f.fd, "", unix.AT_EMPTY_PATH); err == nil && st.Nlink == 0 {
		return errStale // dropped or deleted in the meantime: the line went with it
	}
	return nil
}

// torn reports whether the file ends within a line: its writer was killed within its write, or the disk was full.
func (f *file) torn(size int64) bool {
	var last [1]byte
	n, err := unix.Pread(f.fd, last[:], size-1)
	return err == nil && n == 1 && last[0] != '\n'
}

// write is one write(2) unless a full disk cuts it, where a second one tells why, or makes the line whole.
func write(fd int, line []byte) (int, error) {
	done := 0
	for done < len(line) {
		n, err := unix.Write(fd, line[done:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, io.ErrShortWrite
		}
		done += n
	}
	return done, nil
}

// undo takes a line's first n octets away again. Only with the lock: without it, others may have written behind them.
func (f *file) undo(size int64, n int) {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); n > 0 && err == nil && st.Size == size+int64(n) {
		// Where this fails the piece stays, and the next writer begins a line of its own after it.
		_ = unix.Ftruncate(f.fd, size)
	}
}

// lock takes the log's lock and reports whether it could. flock(2) can't be asked to wait for a while, and waiting in a
// goroutine of its own couldn't be given up, so it asks again and again, a few dozen times at most.
func (f *file) lock() bool {
	wait := lockWait
	if f.stuck {
		wait = 0
	}
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		switch err := unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			f.stuck = false
			return true
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EWOULDBLOCK):
			return false // a file system without locks
		case wait <= 0:
			f.stuck = true
			return false
		}
		<-time.After(pause)
		wait -= pause
	}
}

func (f *file) close() {
	if f.fd >= 0 {
		unix.Close(f.fd)
		f.fd = -1
	}
}
