package wirelog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lnk/settings"
)

// ReadTraffic is what the running proxies carried, by sandbox and pid. It removes the records of those that are gone;
// one that can't be read is an error beside the others, unless no process has its pid: then it is gone as well.
func ReadTraffic(home settings.Home) ([]TrafficRecord, []error) {
	folder := home.TrafficFolder()
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var errs []error
	if err != nil {
		errs = append(errs, fmt.Errorf("reading the traffic: %w", err))
	}
	var records []TrafficRecord
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		pid, record := trafficPID(e.Name())
		if !record {
			removeLeftover(path, pid)
			continue
		}
		r, err := readTraffic(path, pid)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && gone(path, r.Process), err != nil && gone(path, processOf(pid)):
		case err != nil:
			errs = append(errs, err)
		default:
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b TrafficRecord) int {
		return cmp.Or(cmp.Compare(a.Sandbox, b.Sandbox), cmp.Compare(a.PID, b.PID))
	})
	return records, errs
}

// trafficPID is the pid of a record's name, PID.json, or of that of one still being written, .PID.json.RANDOM; 0 if it
// is neither.
func trafficPID(name string) (pid int, record bool) {
	trimmed, writing := strings.CutPrefix(name, ".")
	digits, end, _ := strings.Cut(trimmed, ".")
	pid, err := strconv.Atoi(digits)
	if err != nil || pid <= 0 || strconv.Itoa(pid) != digits {
		return 0, false
	}
	if writing {
		if !strings.HasPrefix(end, "json.") {
			return 0, false
		}
		return pid, false
	}
	return pid, end == "json"
}

func readTraffic(path string, pid int) (TrafficRecord, error) {
	var r TrafficRecord
	data, err := settings.ReadFile(path, 64<<10)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("reading %s: %w", path, err)
	}
	if r.PID != pid || r.Out < 0 || r.In < 0 || !r.Sandbox.Valid() {
		return r, fmt.Errorf("reading %s: not what a proxy writes", path)
	}
	return r, nil
}

// processOf is the zero process, which never runs, where no process has the pid.
func processOf(pid int) settings.Process {
	p, err := settings.ProcessOf(pid)
	if err != nil {
		return settings.Process{}
	}
	return p
}

// gone removes the record of a process that doesn't run. A new process may have the pid by now and have written its own
// between: that one writes it again (see missing).
func gone(path string, p settings.Process) bool {
	if p.Running() {
		return false
	}
	_ = os.Remove(path)
	return true
}

// removeLeftover removes what a proxy was writing when it was killed.
func removeLeftover(path string, pid int) {
	if pid > 0 {
		gone(path, processOf(pid))
	}
}
