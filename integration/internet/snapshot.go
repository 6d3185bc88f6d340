package internet

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Snapshot is what a sandbox must leave as it was on the machine, by kind, one thing a line.
type Snapshot map[string]string

// looks are the commands that show the machine's state in the kernel.
var looks = map[string][]string{
	"links":        {"ip", "-d", "link"},
	"addresses":    {"ip", "address"},
	"namespaces":   {"ip", "netns"},
	"rules":        {"ip", "rule"},
	"rules6":       {"ip", "-6", "rule"},
	"routes":       {"ip", "route", "show", "table", "all"},
	"routes6":      {"ip", "-6", "route", "show", "table", "all"},
	"nft":          {"nft", "list", "ruleset"},
	"listeners":    {"ss", "-Hlntu"},
	"unix sockets": {"sh", "-c", "ss -Hlx | awk '{print $2, $5}'"},
	"sysctls":      {"sh", "-c", "sysctl -a 2>/dev/null | grep -E '^(net|user)' | grep -vE 'conntrack_count|stat_refresh'"},
}

// Snapshot looks at the machine.
func (w *World) Snapshot(t testing.TB) Snapshot {
	t.Helper()
	s, err := look1()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func look1() (Snapshot, error) {
	s := Snapshot{}
	for what, args := range looks {
		path, err := look(args[0])
		if err != nil {
			return nil, err
		}
		out, err := exec.Command(path, args[1:]...).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("looking at the machine's %s: %w\n%s", what, err, out)
		}
		s[what] = string(out)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("looking at the machine's mounts: %w", err)
	}
	s["mounts"] = string(mounts)
	s["processes"] = processes()
	for _, dir := range []string{"/run", "/tmp", "/dev/shm", "/var/tmp", "/etc", "/usr/local"} {
		if s["files in "+dir], err = listing(dir); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// processes lists those that could be a sandbox's: all but the first one, the test itself, and threads of the kernel.
func processes() string {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var lines []string
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || pid == os.Getpid() || passing(dir) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%d %s", pid, strings.ReplaceAll(string(cmdline), "\x00", " ")))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// passing says whether a process is one of a real server's that come and go.
func passing(dir string) bool {
	comm, _ := os.ReadFile(filepath.Join(dir, "comm"))
	switch strings.TrimSpace(string(comm)) {
	case "postgres", "sshd", "sshd-session", "nginx", "unbound":
		return true
	}
	return false
}

// listing is every file below a folder, with its mode, owner and size.
func listing(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if path == "/run/sudo" { // sudo's own, written whenever it is asked
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil // gone since the folder was read
		}
		size := info.Size()
		if d.IsDir() {
			size = 0
		}
		fmt.Fprintln(&b, path, info.Mode(), size)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("listing %s: %w", dir, err)
	}
	return b.String(), nil
}

// Diff says in lines what differs in after; nothing where nothing does.
func (s Snapshot) Diff(after Snapshot) string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(s)) {
		before, now := strings.Split(s[what], "\n"), strings.Split(after[what], "\n")
		for _, line := range before {
			if !slices.Contains(now, line) {
				fmt.Fprintf(&b, "%s: gone: %s\n", what, line)
			}
		}
		for _, line := range now {
			if !slices.Contains(before, line) {
				fmt.Fprintf(&b, "%s: new: %s\n", what, line)
			}
		}
	}
	return b.String()
}

// Same waits until the machine is as it was in the snapshot, and says what still differs after two seconds: what a
// killed process held is freed a moment after it.
func (w *World) Same(before Snapshot) error {
	ctx, cancel := within(2 * time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		after, err := look1()
		if err != nil {
			return err
		}
		diff := before.Diff(after)
		if diff == "" {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the machine is not as it was:\n%s", diff)
		}
	}
}
