package control

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// presence is how a gate looks at the disk. Tests put errors here that a kernel won't give on demand.
type presence struct {
	mark   func(path string) (trace, error)
	folder func(path string, before view) (view, error) // before is what the last look saw
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

// view is what one look saw of a folder.
type view struct {
	identity
	changed  unix.StatxTimestamp // its ctime: every change of rights moves it
	readable bool                // it could be read and searched, and can as long as changed stays: see settled
}

// folderOnDisk identifies the folder at path and says whether it can be read and searched. It follows links, since
// ~/.lnk may be one.
func folderOnDisk(path string, before view) (view, error) {
	now, mode, err := identify(path)
	if err != nil {
		return view{}, err
	}
	if mode&unix.S_IFMT != unix.S_IFDIR {
		return view{}, unix.ENOTDIR
	}
	if now.readable = true; now == before {
		return now, nil
	}
	err = again(func() error {
		return unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK|unix.X_OK, unix.AT_EACCESS)
	})
	now.readable = err == nil && settled(now.changed)
	return now, err
}

// settled says whether a ctime is old enough for the next change to have another one: kernels before 6.13 stamp with
// the granularity of a clock tick.
func settled(ctime unix.StatxTimestamp) bool {
	return time.Since(time.Unix(ctime.Sec, int64(ctime.Nsec))) > time.Second
}

func identify(path string) (view, uint32, error) {
	var sx unix.Statx_t
	err := again(func() error {
		return unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_CTIME|unix.STATX_BTIME, &sx)
	})
	if err == unix.ENOSYS || err == unix.EPERM { // a filter on system calls older than statx(2)
		var st unix.Stat_t
		err = again(func() error { return unix.Stat(path, &st) })
		changed := unix.StatxTimestamp{Sec: st.Ctim.Sec, Nsec: uint32(st.Ctim.Nsec)}
		return view{identity: identity{device: st.Dev, inode: st.Ino}, changed: changed}, st.Mode, err
	}
	v := view{identity: identity{device: unix.Mkdev(sx.Dev_major, sx.Dev_minor), inode: sx.Ino}, changed: sx.Ctime}
	if sx.Mask&unix.STATX_BTIME != 0 {
		v.born = sx.Btime
	}
	return v, uint32(sx.Mode), err
}

// folders are the two that hold a gate's marks, as one look saw them.
type folders struct{ sandbox, paused view }

// same says whether they are the same folders, whatever changed in them.
func (f folders) same(other folders) bool {
	return f.sandbox.identity == other.sandbox.identity && f.paused.identity == other.paused.identity
}

// untouched says whether nothing was made, removed or renamed in them since before. What changed within the last second
// of before doesn't count as untouched: see settled.
func (f folders) untouched(before folders) bool {
	return f == before && f.sandbox.readable && f.paused.readable
}

func (p presence) folders(sandboxPath, pausedPath string, before folders) (folders, error) {
	sandbox, err := p.folder(sandboxPath, before.sandbox)
	if err != nil {
		return folders{}, fmt.Errorf("looking at the settings' folder sandbox: %w", err)
	}
	paused, err := p.folder(pausedPath, before.paused)
	if err != nil {
		return folders{}, fmt.Errorf("looking at the settings' folder sandbox/paused: %w", err)
	}
	return folders{sandbox, paused}, nil
}
