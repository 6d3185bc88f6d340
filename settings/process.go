package settings

// Process is a process by what no later one shares: its pid, its start and the boot it started in. The zero value is
// no process and never runs.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot: field 22 of /proc/PID/stat, proc(5)
	Boot  string `json:"boot"`  // /proc/sys/kernel/random/boot_id
}

// Self is this process.
func Self() (Process, error) { panic("being written") }

// ProcessOf is the process that has this pid now.
func ProcessOf(pid int) (Process, error) { panic("being written") }

// Running reports whether this very process still runs: a zombie, or another one with the same pid, doesn't.
func (p Process) Running() bool { panic("being written") }
