package netns

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// mountPoint is a line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
type mountPoint struct {
	id     uint64
	device string // major:minor
	root   string // what of the filesystem is mounted
	at     string // where
}

func readMounts() ([]mountPoint, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("reading the mounts: %w", err)
	}
	return parseMounts(data)
}

func parseMounts(data []byte) ([]mountPoint, error) {
	list := make([]mountPoint, 0, bytes.Count(data, []byte("\n")))
	for line := range strings.Lines(string(data)) {
		fields := strings.SplitN(line, " ", 6)
		if len(fields) < 6 {
			return nil, fmt.Errorf("reading the mounts: line %q is too short", line)
		}
		id, err := strconv.ParseUint(fields[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("reading the mounts: line %q: %w", line, err)
		}
		list = append(list, mountPoint{id, fields[2], unescape(fields[3]), unescape(fields[4])})
	}
	return list, nil
}

// unescape undoes the kernel's \ooo for space, tab, newline and backslash.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func find(mounts []mountPoint, id uint64) (mountPoint, bool) {
	for _, m := range mounts {
		if m.id == id {
			return m, true
		}
	}
	return mountPoint{}, false
}

// below tells whether path is folder or in it; both are absolute and clean.
func below(path, folder string) bool {
	return path == folder || folder == "/" || strings.HasPrefix(path, folder+"/")
}

// cut returns the part of path below folder, empty or with a leading slash.
func cut(path, folder string) string {
	if folder == "/" {
		return strings.TrimSuffix(path, "/")
	}
	return strings.TrimPrefix(path, folder)
}

func join(folder, rest string) string {
	if rest == "" {
		return folder
	}
	return strings.TrimSuffix(folder, "/") + rest
}
