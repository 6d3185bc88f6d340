package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// pins are the folders above the covered ones that the caller could rename, the deepest first. What is covered would go along with
// them, and the program could put a folder of its own where lnk looks for the settings. A mount can't be renamed, so
// these become mounts of themselves.
func pins(covered []string) ([]string, error) {
	var list []string
	for _, dir := range covered {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("looking for the settings folder: %w", err)
		}
		if link := replaceableLink(dir); link != "" && real != dir {
			return nil, fmt.Errorf("settings folder %s: %s is a link that the program could replace; set LNK_HOME to %s", dir, link, real)
		}
		for above := filepath.Dir(real); above != "/"; above = filepath.Dir(above) {
			if renamable(above) && !slices.Contains(list, above) {
				list = append(list, above)
			}
		}
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list, nil
}

// renamable says whether the caller may change the folder that path is in.
func renamable(path string) bool { return unix.Access(filepath.Dir(path), unix.W_OK) == nil }

// replaceableLink is the first part of a path that is a link and lies in a folder that the caller may change; empty if there is none.
func replaceableLink(path string) string {
	for ; path != "/"; path = filepath.Dir(path) {
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK && renamable(path) {
			return path
		}
	}
	return ""
}
