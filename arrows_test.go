package lnk_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The house: which package may import which, and why not another. What stands to the left of an arrow is all that a
// package may know of the others.
var arrows = map[string][]string{
	"settings": nil,
	"policy":   nil,
	"nft":      nil,
	"spec":     {"policy"},
	"wirelog":  {"settings"},
	"control":  {"settings"},
	"netns":    {"nft"},
	"dnsproxy": {"policy", "wirelog"},
	"proxy":    {"policy", "wirelog"},
	"sandbox":  {"settings", "policy", "nft", "spec", "wirelog", "control", "netns", "dnsproxy", "proxy"},
	"cmd/lnk":  {"settings", "policy", "nft", "spec", "wirelog", "control", "netns", "dnsproxy", "proxy", "sandbox"},
}

// shut are imports that a package must do without, with the reason.
var shut = map[string]map[string]string{
	"policy": {
		"net":      "a decision is pure: it knows addresses (net/netip), and opens no socket and asks no DNS",
		"os":       "a decision is pure: it reads no file and no environment",
		"os/exec":  "a decision is pure: it runs nothing",
		"time":     "a decision is pure: the same question has the same answer at any time",
		"net/http": "a decision is pure: what HTTP says is read in proxy",
		"log":      "a decision is given back; who asked writes it down",
		"context":  "a decision waits for nothing",
	},
	"spec": {
		"os/exec": "a spec is text and what it means; nothing is run to read it",
		"net":     "a spec is text and what it means; no name in it is looked up",
	},
	"nft":      {"os/exec": "rules are given to the kernel in one batch over netlink; nothing is shelled out to"},
	"proxy":    {"os/exec": "the wire runs nothing", "github.com/miekg/dns": "DNS is kept inside dnsproxy"},
	"dnsproxy": {"os/exec": "the DNS proxy runs nothing"},
	"wirelog":  {"os/exec": "the log runs nothing", "net": "the log opens no socket"},
}

// everywhere are imports that no package of the product has.
var everywhere = map[string]string{
	"unsafe":         "golang.org/x/sys has the call",
	"math/rand":      "math/rand/v2, or crypto/rand where it must not be guessed",
	"io/ioutil":      "io and os have it",
	"net/http/pprof": "a proxy that others' programs reach serves nothing of its own",
}

// excused are files that may have one of these all the same, and why.
var excused = map[string]string{
	"netns/threads.go unsafe": "a system call on all threads of the process (syscall.AllThreadsSyscall) takes pointers as numbers",
	"netns/signals.go unsafe": "golang.org/x/sys has no rt_sigaction",
}

// cli are imports for cmd/lnk alone.
var cli = map[string]string{
	"github.com/spf13/cobra": "commands and their words are made in cmd/lnk",
	"github.com/spf13/pflag": "commands and their words are made in cmd/lnk",
}

func TestArrows(t *testing.T) {
	for dir, may := range arrows {
		for path, files := range imports(t, dir) {
			local, isLocal := strings.CutPrefix(path, "lnk/")
			if isLocal && !slices.Contains(may, local) {
				t.Errorf("%v imports %s: %s may know only %v", files, path, dir, may)
			}
			for _, list := range []map[string]string{shut[dir], everywhere} {
				why, no := list[path]
				for _, file := range files {
					if _, may := excused[file+" "+path]; no && !may {
						t.Errorf("%s imports %s: %s", file, path, why)
					}
				}
			}
			if why, no := cli[path]; no && dir != "cmd/lnk" {
				t.Errorf("%v imports %s: %s", files, path, why)
			}
			if path == "lnk/integration" || strings.HasPrefix(path, "lnk/integration/") {
				t.Errorf("%v imports %s: that is for tests and the demo", files, path)
			}
		}
	}
}

// TestEveryFolderIsInTheHouse fails for a package that the table above doesn't know.
func TestEveryFolderIsInTheHouse(t *testing.T) {
	for _, dir := range packages(t) {
		if _, known := arrows[dir]; !known && dir != "." && dir != "integration" && !strings.HasPrefix(dir, "integration/") {
			t.Errorf("package %s: say in arrows what it may import", dir)
		}
	}
}

// TestEveryPackageSaysWhatItIsFor wants a package comment in doc.go, or, for a command, in main.go.
func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, dir := range packages(t) {
		if dir == "." || onlyTests(t, dir) && dir != "integration" {
			continue
		}
		want, name := "doc.go", "Package "+filepath.Base(dir)
		if _, err := os.Stat(filepath.Join(dir, want)); err != nil {
			want, name = "main.go", "Command "
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, want), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Errorf("package %s: no doc.go, and no command: %v", dir, err)
			continue
		}
		if file.Name.Name == "main" {
			name = "Command "
		}
		if text := file.Doc.Text(); !strings.HasPrefix(text, name) {
			t.Errorf("%s: its comment must begin with %q, and begins with %.40q", filepath.Join(dir, want), name, text)
		}
	}
}

// imports gives each path that a package's files (tests aside) import, with the files that do.
func imports(t *testing.T, dir string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, file := range goFiles(t, dir) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("reading %s: %v", file, err)
			}
			all[path] = append(all[path], file)
		}
	}
	if len(all) == 0 {
		t.Errorf("package %s: no file imports anything; is it still there?", dir)
	}
	return all
}

func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(found, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

func onlyTests(t *testing.T, dir string) bool { return len(goFiles(t, dir)) == 0 }

// packages are the folders of the module that hold Go files.
func packages(t *testing.T) []string {
	t.Helper()
	dirs := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("walking the module: %w", err)
		}
		if name := d.Name(); d.IsDir() && path != "." && (strings.HasPrefix(name, ".") || name == "testdata") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			dirs[filepath.Dir(path)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(dirs))
}
