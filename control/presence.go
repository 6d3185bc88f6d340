package control

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// presence is how a gate looks at the disk. Tests put errors here that a kernel won't give on demand.
type presence struct {
	mark   func(path string) (trace, error)
	folder func(path string) (identity, error)
}

// onDisk looks at the real disk. Neither function needs a descriptor.
var onDisk = presence{mark: markOnDisk, folder: folderOnDisk}

// trace tells one state of a mark from another: its text is read again when this changed. The zero value is no mark.
type trace struct {
	ino          uint64
	size         int64
	mtime, ctime unix.Timespec
}

func markOnDisk(path string) (trace, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Lstat(path, &st) }); err != nil {
		return trace{}, err
	}
	return trace{st.Ino, st.Size, st.Mtim, st.Ctim}, nil
}

// identity tells one folder from another at the same path. The time of birth is part of it because file systems give
// a removed folder's inode number to the next one. The zero value is no folder.
type identity struct {
	device, inode uint64
	born          unix.StatxTimestamp
}

// folderOnDisk identifies the folder at path and says whether it can be read and searched. It follows links, since ~/.lnk may be
// one. The identity is returned also where the error says that the folder can't be read.
func folderOnDisk(path string) (identity, error) {
	id, mode, err := identify(path)
	if err != nil {
		return identity{}, err
	}
	if mode&unix.S_IFMT != unix.S_IFDIR {
		return identity{}, unix.ENOTDIR
	}
	return id, again(func() error {
		return unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK|unix.X_OK, unix.AT_EACCESS)
	})
}

func identify(path string) (identity, uint32, error) {
	var sx unix.Statx_t
	err := again(func() error {
		return unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_BTIME, &sx)
	})
	if err == unix.ENOSYS || err == unix.EPERM { // a filter on system calls older than statx(2)
		var st unix.Stat_t
		err = again(func() error { return unix.Stat(path, &st) })
		return identity{device: st.Dev, inode: st.Ino}, st.Mode, err
	}
	id := identity{device: unix.Mkdev(sx.Dev_major, sx.Dev_minor), inode: sx.Ino}
	if sx.Mask&unix.STATX_BTIME != 0 {
		id.born = sx.Btime
	}
	return id, uint32(sx.Mode), err
}

// folders are the two that hold a gate's marks, as one look found them.
type folders struct{ sandbox, paused identity }

func (p presence) folders(sandboxPath, pausedPath string) (folders, error) {
	sandbox, err := p.folder(sandboxPath)
	if err != nil {
		return folders{sandbox: sandbox}, fmt.Errorf("looking at the settings' folder sandbox: %w", err)
	}
	paused, err := p.folder(pausedPath)
	if err != nil {
		return folders{sandbox, paused}, fmt.Errorf("looking at the settings' folder sandbox/paused: %w", err)
	}
	return folders{sandbox, paused}, nil
}
