package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"lnk/settings"
	"lnk/spec"
)

// maxSpec is far more than a spec needs; what is longer is something else.
const maxSpec = 1 << 20

// source is where a run's spec comes from: a file, if any, and the flags that add to it.
type source struct {
	path  string // empty: no file
	ours  bool   // the file is in the settings, where no sandbox reaches it: it is read again when it changes
	seen  sight  // the file before it was read
	flags spec.Flags
}

// locateSpec finds a run's spec: the file that was named, or the settings' own for the run's name. named is the name that
// the caller gave, empty where the name will be made up.
func locateSpec(home settings.Home, file string, named settings.Name, flags spec.Flags) (source, error) {
	s := source{flags: flags}
	switch {
	case file != "":
		path, err := filepath.Abs(file)
		if err != nil {
			return source{}, fmt.Errorf("finding the spec %s: %w", file, err)
		}
		s.path = path
	case named != "":
		if _, err := os.Lstat(home.Spec(named)); err == nil {
			s.path = home.Spec(named)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return source{}, fmt.Errorf("finding the spec of %s: %w", named, err)
		}
	}
	s.ours = s.path != "" && outOfReach(home, s.path)
	if s.ours {
		s.seen = s.look()
	}
	return s, nil
}

// outOfReach says whether a spec lies in the settings' folder of specs under that one name: not by a link to, or from, where a
// sandbox might write.
func outOfReach(home settings.Home, path string) bool {
	folder, err1 := filepath.EvalSymlinks(home.SpecsFolder())
	parent, err2 := filepath.EvalSymlinks(filepath.Dir(path))
	if err1 != nil || err2 != nil || folder != parent {
		return false
	}
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink == 1
}

// read gives the spec: the file's, or the default where there is none, with what the flags add.
func (s source) read() (spec.Spec, error) {
	base := spec.Default()
	if s.path != "" {
		data, err := readSpec(s.path)
		if err != nil {
			return spec.Spec{}, fmt.Errorf("reading the spec: %w", err)
		}
		if base, err = spec.Parse(data, s.path); err != nil {
			return spec.Spec{}, err
		}
	}
	return base.With(s.flags)
}

// ReadSpec gives a spec as a run would have it: the file's, where one is named, with what the flags add.
func ReadSpec(file string, flags spec.Flags) (spec.Spec, error) {
	return source{path: file, flags: flags}.read()
}

// readSpec takes what a caller may name: a file, a link to one, a pipe.
func readSpec(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSpec+1))
	if err == nil && len(data) > maxSpec {
		err = fmt.Errorf("%s: longer than %d bytes", path, maxSpec)
	}
	return data, err
}

// errEmptySpec keeps a file that lost its contents from widening a running sandbox to all that a spec without a word allows.
var errEmptySpec = errors.New("it is empty now")

// readAgain gives the spec of a file that has changed while the run goes on.
func (s source) readAgain(home settings.Home) (spec.Spec, error) {
	if !outOfReach(home, s.path) {
		return spec.Spec{}, errors.New("it is no longer a file of the settings' own")
	}
	data, err := settings.ReadFile(s.path, maxSpec)
	if err != nil {
		return spec.Spec{}, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return spec.Spec{}, errEmptySpec
	}
	base, err := spec.Parse(data, s.path)
	if err != nil {
		return spec.Spec{}, err
	}
	return base.With(s.flags)
}

// specLook is how often a spec is looked at. A change holds once two looks in a row agree on it, so that a file just being
// written isn't taken half-way: at most three looks, well within a second.
const specLook = 300 * time.Millisecond

// follow looks at the spec until ctx ends and calls changed when it is another than the one last read, once for each change.
func (s source) follow(ctx context.Context, every time.Duration, changed func()) {
	known, candidate := s.seen, s.seen
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := s.look()
		if now != known && now == candidate {
			known = now
			changed()
		}
		candidate = now
	}
}

// sight is what tells one state of a file from another without reading it.
type sight struct {
	inode, device  uint64
	size           int64
	changed, wrote unix.Timespec
	missing        bool
}

func (s source) look() sight {
	var st unix.Stat_t
	if err := unix.Lstat(s.path, &st); err != nil {
		return sight{missing: true}
	}
	return sight{inode: st.Ino, device: uint64(st.Dev), size: st.Size, changed: st.Ctim, wrote: st.Mtim}
}
