package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lnk/settings"
)

// DefaultStopLimit is how long a command that runs with a stop may take where it doesn't say.
const DefaultStopLimit = 10 * time.Second

// maxRegistration is the longest record of a command, in bytes.
const maxRegistration = 256 << 10

// OnStop is a command that runs with the kill switch. Its environment isn't kept: it gets that of whoever stops.
type OnStop struct {
	Name      settings.Name `json:"name"`
	Command   []string      `json:"command"`             // the program and its arguments; no shell reads them
	Directory string        `json:"directory,omitempty"` // where it runs, an absolute path; empty means /
	Seconds   int           `json:"seconds,omitempty"`   // how long it may take; 0 means DefaultStopLimit
}

func (o OnStop) limit() time.Duration {
	if o.Seconds <= 0 {
		return DefaultStopLimit
	}
	return time.Duration(o.Seconds) * time.Second
}

func (o OnStop) check() error {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return errors.New("there is no command")
	}
	if !filepath.IsAbs(o.Command[0]) {
		return fmt.Errorf("the program %q isn't an absolute path", o.Command[0])
	}
	if o.Directory != "" && !filepath.IsAbs(o.Directory) {
		return fmt.Errorf("the directory %q isn't an absolute path", o.Directory)
	}
	if o.Seconds < 0 {
		return fmt.Errorf("a limit of %d seconds", o.Seconds)
	}
	return nil
}

// AddOnStop registers a command, in place of an earlier one of that name. The program is looked for now and kept as an
// absolute path, since a stop may come from where PATH is another one.
func AddOnStop(home settings.Home, o OnStop) error {
	if err := named(home, o.Name); err != nil {
		return fmt.Errorf("registering a command for the stop: %w", err)
	}
	o, err := o.resolved()
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return fmt.Errorf("registering %s for the stop: %w", o.Name, err)
	}
	data, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return fmt.Errorf("registering %s for the stop: %w", o.Name, err)
	}
	if len(data) > maxRegistration {
		return fmt.Errorf("registering %s for the stop: the command is longer than %d bytes", o.Name, maxRegistration)
	}
	if err := settings.WriteFile(home.OnStop(o.Name), append(data, '\n')); err != nil {
		return fmt.Errorf("registering %s for the stop: %w", o.Name, err)
	}
	return nil
}

// resolved is o with its program's absolute path, in a slice of its own.
func (o OnStop) resolved() (OnStop, error) {
	o.Command = slices.Clone(o.Command)
	if len(o.Command) == 0 || o.Command[0] == "" {
		return o, nil
	}
	program, err := exec.LookPath(o.Command[0])
	if err != nil {
		return o, fmt.Errorf("looking for the program: %w", err)
	}
	if o.Command[0], err = filepath.Abs(program); err != nil {
		return o, fmt.Errorf("looking for the program: %w", err)
	}
	return o, nil
}

// RemoveOnStop takes a registration away; fs.ErrNotExist where there is none.
func RemoveOnStop(home settings.Home, name settings.Name) error {
	if err := named(home, name); err != nil {
		return fmt.Errorf("removing a command from the stop: %w", err)
	}
	if err := os.Remove(home.OnStop(name)); err != nil {
		return fmt.Errorf("removing %s from the stop: %w", name, bare(err))
	}
	return nil
}

// ListOnStop lists the registrations by name. What can't be read is told among the errors and hides nothing else.
func ListOnStop(home settings.Home) ([]OnStop, []error) {
	all, broken := registrations(home)
	errs := make([]error, 0, len(broken))
	for _, b := range broken {
		errs = append(errs, b.Err)
	}
	return all, errs
}

// registrations are those that can be read, by name, and a result for each that can't.
func registrations(home settings.Home) (all []OnStop, broken []OnStopResult) {
	if home.Dir() == "" {
		return nil, []OnStopResult{{Err: errors.New("listing what runs with a stop: no settings folder is set")}}
	}
	entries, err := os.ReadDir(home.OnStopFolder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		broken = append(broken, OnStopResult{Err: fmt.Errorf("listing what runs with a stop: %w", err)})
	}
	for _, entry := range entries {
		base, isRecord := strings.CutSuffix(entry.Name(), ".json")
		if !isRecord || strings.HasPrefix(base, ".") { // half written, or nothing of ours
			continue
		}
		o, err := readOnStop(home, base)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		case err != nil:
			err = fmt.Errorf("reading what %s runs with a stop: %w", clean(base), err)
			broken = append(broken, OnStopResult{Name: settings.Name(clean(base)), Err: err})
		default:
			all = append(all, o)
		}
	}
	return all, broken
}

// readOnStop reads one record. The file's name is the registration's, whatever the record says.
func readOnStop(home settings.Home, base string) (OnStop, error) {
	name, err := settings.ParseName(base)
	if err != nil {
		return OnStop{}, err
	}
	data, err := settings.ReadFile(home.OnStop(name), maxRegistration+1)
	if err != nil {
		return OnStop{}, err
	}
	var o OnStop
	if err := json.Unmarshal(data, &o); err != nil {
		return OnStop{}, err
	}
	o.Name = name
	return o, o.check()
}
