package settings

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// Process is a process by what no later one shares: its pid, its start and the boot it started in. The zero value is
// no process and never runs.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot: field 22 of /proc/PID/stat, proc_pid_stat(5)
	Boot  string `json:"boot"`  // /proc/sys/kernel/random/boot_id
}

// Self is this process.
func Self() (Process, error) { return ProcessOf(os.Getpid()) }

// ProcessOf is the process that has this pid now. One that has ended and only waits to be reaped is an error.
func ProcessOf(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, fmt.Errorf("process %d: no such number", pid)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	start, err := startOf(stat)
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	boot, err := bootID()
	if err != nil {
		return Process{}, fmt.Errorf("process %d: this boot's id: %w", pid, err)
	}
	return Process{PID: pid, Start: start, Boot: boot}, nil
}

// Running reports whether this very process still runs: one that ended, or another with the same pid, doesn't.
func (p Process) Running() bool {
	now, err := ProcessOf(p.PID)
	return err == nil && now == p
}

// startOf reads the start time from the text of /proc/PID/stat. A program's name, the second field, may hold spaces
// and parentheses of its own: the fields that can be counted begin after the last one.
func startOf(stat []byte) (uint64, error) {
	const state, start = 3, 22
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= start-state {
		return 0, fmt.Errorf("reading its stat: %d fields after its name", len(fields))
	}
	if s := fields[0][0]; s == 'Z' || s == 'X' {
		return 0, fmt.Errorf("it has ended")
	}
	ticks, err := strconv.ParseUint(string(fields[start-state]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading its start: %w", err)
	}
	return ticks, nil
}

// bootID can't change while this process runs.
var bootID = sync.OnceValues(func() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(id)), err
})
