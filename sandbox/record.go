package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lnk/settings"
)

// Running is the record of a run, runs/NAME.json. The JSON names are stable.
type Running struct {
	settings.Process               // the proxy's
	Name             settings.Name `json:"name"`
	Program          string        `json:"program"` // its file name alone, never an argument
	Mode             string        `json:"mode"`
	Endpoints        []string      `json:"endpoints,omitempty"` // in normal form
	Ports            []uint16      `json:"ports,omitempty"`     // this machine's
	Since            time.Time     `json:"since"`
	Unnamed          bool          `json:"unnamed,omitempty"` // its name was made up: its pause goes when it ends
}

// TakenError says that a sandbox of that name is running.
type TakenError struct{ Running Running }

func (e *TakenError) Error() string {
	return fmt.Sprintf("name %q is taken: a sandbox of that name is running (pid %d)", e.Running.Name, e.Running.PID)
}

// maxRecord is far more than any record has: a file past it is none.
const maxRecord = 4 << 20

// claim is a name held by this run, until it is released.
type claim struct {
	home    settings.Home
	running Running
}

// take claims a name by making its record, which no other run can have made or can make until it is released. A record whose process
// is gone, or that can't be read as one, is replaced: records are only ever linked whole, so the second is no run's.
func take(home settings.Home, r Running) (*claim, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("claiming the name %s: %w", r.Name, err)
	}
	temp, err := writeAside(home.RunsFolder(), data)
	if err != nil {
		return nil, fmt.Errorf("claiming the name %s: %w", r.Name, err)
	}
	defer os.Remove(temp) // a link to it is what stays
	for {
		err := os.Link(temp, home.Run(r.Name)) // fails where there is one: this alone decides between two runs
		if err == nil {
			return &claim{home, r}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("claiming the name %s: %w", r.Name, err)
		}
		if err := dropStale(home, r.Name); err != nil {
			return nil, err
		}
	}
}

// update puts new contents in the claimed record, whole.
func (c *claim) update(change func(*Running)) error {
	change(&c.running)
	data, err := json.Marshal(c.running)
	if err != nil {
		return fmt.Errorf("writing the run's record: %w", err)
	}
	return settings.WriteFile(c.home.Run(c.running.Name), data)
}

// release gives the name back. Only this run's own record goes.
func (c *claim) release() error {
	r, err := readRunning(c.home.Run(c.running.Name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && r.Process != c.running.Process {
		return nil
	}
	if err := os.Remove(c.home.Run(c.running.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the run's record: %w", err)
	}
	return nil
}

// List gives the running sandboxes by name. Records of runs that are gone are removed, with the pauses that were to go with them;
// one that can't be read is an error beside the others, and hides none.
func List(home settings.Home) ([]Running, []error) {
	entries, err := os.ReadDir(home.RunsFolder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{fmt.Errorf("listing the runs: %w", err)}
	}
	var runs []Running
	var errs []error
	for _, entry := range entries {
		name, ok := recordName(entry.Name())
		if !ok {
			continue
		}
		r, err := Find(home, name)
		switch {
		case err == nil:
			runs = append(runs, r)
		case errors.Is(err, fs.ErrNotExist):
			_ = dropStale(home, name) // it stays for the next list, and lists as nothing
		default:
			errs = append(errs, err)
		}
	}
	slices.SortFunc(runs, func(a, b Running) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return runs, errs
}

// Find gives the running sandbox of that name; fs.ErrNotExist where none is running.
func Find(home settings.Home, name settings.Name) (Running, error) {
	r, err := readRunning(home.Run(name))
	if err != nil {
		return Running{}, fmt.Errorf("reading the run %s: %w", name, err)
	}
	if r.Name != name {
		return Running{}, fmt.Errorf("reading the run %s: its record is another's: %q", name, r.Name)
	}
	if !r.Running() {
		return Running{}, fmt.Errorf("reading the run %s: it is gone: %w", name, fs.ErrNotExist)
	}
	return r, nil
}

// Running says whether the run's proxy is running.
func (r Running) Running() bool { return r.Process.Running() }

func recordName(file string) (settings.Name, bool) {
	base, ok := strings.CutSuffix(file, ".json")
	if !ok {
		return "", false
	}
	name, err := settings.ParseName(base)
	return name, err == nil
}

func readRunning(path string) (Running, error) {
	data, err := settings.ReadFile(path, maxRecord)
	if err != nil {
		return Running{}, err
	}
	var r Running
	if err := json.Unmarshal(data, &r); err != nil {
		return Running{}, fmt.Errorf("%s: %w", path, err)
	}
	if r.Name, err = settings.ParseName(string(r.Name)); err != nil {
		return Running{}, fmt.Errorf("%s: %w", path, err)
	}
	r.Program = programName(r.Program, settings.MaxName)
	return r, nil
}

// writeAside writes a new file in a folder, whole, under a name that is no record's.
func writeAside(folder string, data []byte) (string, error) {
	path := filepath.Join(folder, ".claim-"+strconv.Itoa(os.Getpid())+"-"+randomLetters())
	return path, settings.WriteFile(path, data)
}
