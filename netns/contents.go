package netns

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// What a plan's files hold goes to init in one memory file, one after the other, and not in the message that names them: a bundle of
// certificate authorities has 220 KB, which JSON makes slow.

// contents makes that memory file.
func contents(files []fileBody) (*os.File, error) {
	fd, err := unix.MemfdCreate("lnk-contents", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	held := os.NewFile(uintptr(fd), "contents")
	for _, f := range files {
		if _, err := held.Write(f.Data); err != nil {
			held.Close()
			return nil, fmt.Errorf("writing the room's files: %w", err)
		}
	}
	return held, nil
}

// fill gives files what they hold, from that memory file, and closes it.
func fill(files []fileBody, passed []*os.File) error {
	defer closeAll(passed)
	if len(passed) != 1 {
		return errors.New("reading the room's files: they were not passed on")
	}
	at := int64(0)
	for i := range files {
		f := &files[i]
		f.Data = make([]byte, f.Size)
		if _, err := io.ReadFull(io.NewSectionReader(passed[0], at, int64(f.Size)), f.Data); err != nil {
			return fmt.Errorf("reading the room's files: %w", err)
		}
		at += int64(f.Size)
	}
	return nil
}
