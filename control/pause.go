package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"lnk/settings"
)

// ErrNotPaused is what Resume returns for a sandbox that isn't paused on disk.
var ErrNotPaused = errors.New("not paused")

// PauseRecord is one pause as it stands on disk. Only its name is certain.
type PauseRecord struct {
	Name  settings.Name `json:"name"`
	Why   string        `json:"why"`   // one clean line; empty where the file doesn't say
	By    string        `json:"by"`    // ByWire or a user's name; empty where the file doesn't say
	Since time.Time     `json:"since"` // the file's own time where it doesn't say
}

// Pause pauses the sandbox called name until Resume: its proxy refuses every call and ends the open ones within a
// second. One that is paused already keeps its first reason, without an error. An error that says that the sandbox is
// paused is about the reason's text only. Whether there is such a sandbox is for the caller to know.
func Pause(home settings.Home, name settings.Name, why, by string) error {
	if err := named(home, name); err != nil {
		return fmt.Errorf("pausing: %w", err)
	}
	path := home.Paused(name)
	err := makeMark(home, path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pausing %s: %w", name, err)
	}
	err = inscribe(path, note{why, by, time.Now()})
	// Resumed already, or resumed and paused again: either way the text isn't this pause's to write.
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is paused, but not why: %w", name, err)
	}
	return nil
}

// Resume ends a pause; ErrNotPaused where there is none. A pause that a proxy holds and can't write isn't there to be
// removed: the proxy writes it when it can, and from then on Resume ends it.
func Resume(home settings.Home, name settings.Name) error {
	if err := named(home, name); err != nil {
		return fmt.Errorf("resuming: %w", err)
	}
	err := takeAway(home.Paused(name))
	if errors.Is(err, errNoMark) {
		return fmt.Errorf("resuming %s: %w", name, ErrNotPaused)
	}
	if err != nil {
		return fmt.Errorf("resuming %s: %w", name, err)
	}
	return nil
}

// EndPause ends the pause of a run that is over and had no name of its own; none is no error.
func EndPause(home settings.Home, name settings.Name) error {
	if err := Resume(home, name); err != nil && !errors.Is(err, ErrNotPaused) {
		return err
	}
	return nil
}

// Paused lists the pauses by name. One that can't be read is listed with what is known of it, and told among the
// errors; a file that no sandbox can be called after is told only. An error may also mean that the folder can't be
// read, and then every sandbox counts as paused.
func Paused(home settings.Home) ([]PauseRecord, []error) {
	if home.Dir() == "" {
		return nil, []error{errors.New("listing pauses: no settings folder is set")}
	}
	entries, err := os.ReadDir(home.PausedFolder())
	var errs []error
	if err != nil { // what was read before the error is listed
		errs = append(errs, fmt.Errorf("listing pauses: %w", err))
	}
	records := make([]PauseRecord, 0, len(entries))
	for _, entry := range entries {
		name, err := settings.ParseName(entry.Name())
		if err != nil {
			errs = append(errs, fmt.Errorf("a file among the pauses: %w", err))
			continue
		}
		record, err := readPause(home, name)
		if errors.Is(err, fs.ErrNotExist) && record.Since.IsZero() {
			continue // resumed meanwhile
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the pause of %s: %w", name, err))
		}
		records = append(records, record)
	}
	slices.SortFunc(records, func(a, b PauseRecord) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return records, errs
}

// readPause reads one pause. Its time is zero only if there is none.
func readPause(home settings.Home, name settings.Name) (PauseRecord, error) {
	path := home.Paused(name)
	n, err := read(path)
	if err != nil {
		if t, err := onDisk.mark(path); err == nil {
			n.since = time.Unix(t.mtime.Unix())
		}
	}
	return PauseRecord{Name: name, Why: n.why, By: n.by, Since: n.since}, err
}
