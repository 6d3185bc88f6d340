package wirelog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLine is longer than any line that Format makes; of a longer one, no more than this is read.
const maxLine = 4096

// tail is one of the log's files as it is read: all there is, and later what was added.
type tail struct {
	f    *os.File
	path string // as it was called when it was opened
	id   fileID
	pos  int64
	part []byte // a line whose end isn't there yet
	long bool   // the rest of that line is left out
}

// openTail opens a file of the log for reading, if it is one: this user's, and no link.
func openTail(path string) (*tail, error) {
	err := beforeOpen(path)
	if err != nil {
		return nil, fmt.Errorf("reading the log %s: %w", path, err)
	}
	fd, err := unix.Open(path, unix.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the log %s: %w", path, err)
	}
	st, err := ownFile(fd)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("reading the log %s: %w", path, err)
	}
	return &tail{f: os.NewFile(uintptr(fd), path), path: path, id: idOf(&st)}, nil
}

// tails opens the log's files, the oldest first, but for those that are known.
//
// They are opened from the newest to the oldest, the way in which rotation moves them, so that one which moves
// meanwhile is met twice, never missed. A number may be missing for a moment: so all numbers up to the highest are
// tried, and two more.
func tails(path string, known map[fileID]bool) ([]*tail, []error) {
	var found []*tail
	var errs []error
	met := map[fileID]bool{}
	for k := range highest(path) + 3 {
		name := path
		if k > 0 {
			name = numbered(path, k)
		}
		t, err := openTail(name)
		switch {
		case errors.Is(err, unix.ENOENT):
		case err != nil:
			errs = append(errs, err)
		case known[t.id] || met[t.id]:
			t.close()
		default:
			met[t.id] = true
			found = append(found, t)
		}
	}
	slices.Reverse(found)
	return found, errs
}

// highest is the highest number of a rotated file that is there.
func highest(path string) int {
	names, err := filepath.Glob(globEscape(path) + ".[0-9]*")
	if err != nil {
		return DefaultKeep
	}
	most := 0
	for _, name := range names {
		digits := strings.TrimPrefix(name, path+".")
		if k, err := strconv.Atoi(digits); err == nil && k <= 100_000 {
			most = max(most, k)
		}
	}
	return most
}

func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// read gives each line that was added since the last time, without its newline. It stops early where give returns
// false.
func (t *tail) read(buf []byte, give func([]byte) bool) error {
	if err := t.rewind(); err != nil {
		return err
	}
	for {
		n, err := t.f.ReadAt(buf, t.pos)
		t.pos += int64(n)
		if !t.split(buf[:n], give) {
			return nil
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the log %s: %w", t.path, err)
		}
	}
}

// rewind begins anew where somebody cut the file.
func (t *tail) rewind() error {
	info, err := t.f.Stat()
	if err != nil {
		return fmt.Errorf("reading the log %s: %w", t.path, err)
	}
	if info.Size() < t.pos {
		t.pos, t.part, t.long = 0, nil, false
	}
	return nil
}

func (t *tail) split(data []byte, give func([]byte) bool) bool {
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			t.keep(data)
			return true
		}
		line := data[:i]
		if t.part != nil || t.long {
			t.keep(line)
			line, t.part, t.long = t.part, nil, false
		}
		data = data[i+1:]
		if !give(line) {
			return false
		}
	}
	return true
}

// keep adds to the line whose end isn't there yet.
func (t *tail) keep(data []byte) {
	if room := maxLine - len(t.part); len(data) > room {
		data, t.long = data[:room], true
	}
	t.part = append(t.part, data...)
}

// rest is a line that has no end, where there is one, and forgets it.
func (t *tail) rest() []byte {
	part := t.part
	t.part, t.long = nil, false
	return part
}

// dropped reports whether the file has no name any more.
func (t *tail) dropped() bool {
	var st unix.Stat_t
	err := unix.Fstat(int(t.f.Fd()), &st)
	return err != nil || st.Nlink == 0
}

func (t *tail) close() { t.f.Close() }
