package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"lnk/settings"

	"golang.org/x/sys/unix"
)

// Stop makes the kill switch: every proxy of these settings refuses every call and ends the open ones within a second.
// A second stop changes nothing. What runs with a stop is RunOnStop's.
func Stop(home settings.Home) error {
	if home.Dir() == "" {
		return errors.New("stopping: no settings folder is set")
	}
	err := makeMark(home, home.Stopped())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	// The stop stands. Its text is for people, and the file's own time says when as well.
	_ = inscribe(home.Stopped(), note{why: "stopped by hand", since: time.Now()})
	return nil
}

// Unstop takes the kill switch away, whatever it is. It is no error where there is none, but it is one where it can't
// be told, or where the switch is a folder that holds files.
func Unstop(home settings.Home) error {
	if home.Dir() == "" {
		return errors.New("ending the stop: no settings folder is set")
	}
	err := takeAway(home.Stopped())
	if err != nil && !errors.Is(err, errNoMark) {
		return fmt.Errorf("ending the stop: %w", err)
	}
	return nil
}

// Stopped is the state of the kill switch alone: CauseOpen, CauseStopped or CauseUnreadable.
func Stopped(home settings.Home) State {
	if home.Dir() == "" {
		return State{}
	}
	path := home.Stopped()
	t, err := onDisk.mark(path)
	if err == nil {
		return marked(CauseStopped, remembered{}.refreshed(path, t).note)
	}
	if err != unix.ENOENT {
		return unreadable(fmt.Errorf("looking for a stop: %w", err))
	}
	if _, err := onDisk.folder(filepath.Dir(path), view{}); err != nil {
		return unreadable(fmt.Errorf("looking at the settings' folder sandbox: %w", err))
	}
	return State{Cause: CauseOpen}
}

// makeMark claims the mark at path, and makes the settings folder first where it isn't there: a stop or a pause can be
// the first thing that a user does. That folder failing in part is no reason not to try.
func makeMark(home settings.Home, path string) error {
	err := claim(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	made := home.Ensure()
	if err = claim(path); errors.Is(err, fs.ErrNotExist) && made != nil {
		return made
	}
	return err
}

// errNoMark says that there is no mark, in a folder that can be looked at.
var errNoMark = errors.New("there is none")

// takeAway removes a mark. Where the folder itself is gone, gates are shut for that, so it isn't errNoMark.
func takeAway(path string) error {
	err := remove(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, folder := os.Stat(filepath.Dir(path)); folder != nil {
		return fmt.Errorf("looking at the folder of %s: %w", path, bare(folder))
	}
	return errNoMark
}
