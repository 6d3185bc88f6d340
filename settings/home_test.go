package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLocate(t *testing.T) {
	tests := map[string]struct{ lnkHome, userHome, dir, err string }{
		"LNK_HOME wins":                         {lnkHome: "/srv/lnk/", userHome: "/home/u", dir: "/srv/lnk"},
		"otherwise .lnk of the user":            {userHome: "/home/u", dir: "/home/u/.lnk"},
		"a relative LNK_HOME is refused":        {lnkHome: "lnk", userHome: "/home/u", err: "not an absolute path"},
		"a relative home folder is refused":     {userHome: "u", err: "not an absolute path"},
		"neither is refused":                    {err: "neither LNK_HOME nor a home folder"},
		"a path is cleaned of dots and slashes": {lnkHome: "/srv//x/../lnk/.", dir: "/srv/lnk"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			home, err := Locate(tt.lnkHome, tt.userHome)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || home.Dir() != tt.dir {
				t.Fatalf("got %q, %v; want %q", home.Dir(), err, tt.dir)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	home, err := At("/h")
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]string{
		"/h/sandbox/wire.log":         home.Log(),
		"/h/sandbox/stopped":          home.Stopped(),
		"/h/sandbox/paused/a.b":       home.Paused("a.b"),
		"/h/sandbox/traffic/12.json":  home.Traffic(12),
		"/h/sandbox/runs/a.json":      home.Run("a"),
		"/h/sandbox/on-stop/a.json":   home.OnStop("a"),
		"/h/sandbox/specs/a.toml":     home.Spec("a"),
		"/h/agent/a":                  home.Agent("a"),
		"/dev/null/invalid-name":      home.Paused("../stopped"),
		"/dev/null/invalid-name.json": home.Run(""),
		"/dev/null/invalid-name.toml": home.Spec(".."),
		"/dev/null/sandbox/stopped":   Home{}.Stopped(),
		"/dev/null/sandbox/wire.log":  Home{}.Log(),
		"/dev/null/sandbox/paused/a":  Home{}.Paused("a"),
		"/dev/null/agent":             Home{}.AgentFolder(),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A gate that looks for a file at an impossible path must hear an error, never "it isn't there".
func TestPathToNowhereIsNotAbsence(t *testing.T) {
	home, err := At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{Home{}.Stopped(), Home{}.Paused("a"), home.Paused(""), home.Paused("a/b")} {
		if _, err := os.Lstat(path); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestEnsure(t *testing.T) {
	tests := map[string]struct {
		before func(t *testing.T, dir string)
		err    string
	}{
		"all are made, parents too":           {before: func(*testing.T, string) {}},
		"a folder that others can read":       {before: folder(0o755)},
		"a folder that the group can write":   {before: folder(0o775)},
		"a folder that the owner can't enter": {before: folder(0o600)},
		"a folder that everybody can write":   {before: folder(0o777), err: "everybody may write to it (mode 777)"},
		"a file where a folder should be":     {before: file, err: "not a directory"},
		"a folder elsewhere, by a link":       {before: link},
		"a link to nowhere":                   {before: danglingLink, err: "opening it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			home, err := At(filepath.Join(t.TempDir(), "deep", "lnk"))
			if err != nil {
				t.Fatal(err)
			}
			tt.before(t, home.path("sandbox"))
			err = home.Ensure()
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{home.Dir(), home.path("sandbox"), home.TrafficFolder(), home.AgentFolder()} {
				info, err := os.Stat(dir)
				if err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("%s: mode %v, %v", dir, info.Mode(), err)
				}
			}
		})
	}
}

func TestEnsureTwice(t *testing.T) {
	home, err := At(filepath.Join(t.TempDir(), "lnk"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := home.Ensure(); err != nil {
			t.Fatal(err)
		}
	}
	if err := (Home{}).Ensure(); err == nil {
		t.Error("the zero Home was made")
	}
}

func folder(mode os.FileMode) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		must(t, os.MkdirAll(dir, 0o700))
		must(t, os.Chmod(dir, mode))
	}
}

func file(t *testing.T, dir string) {
	must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	must(t, os.WriteFile(dir, nil, 0o600))
}

func link(t *testing.T, dir string) {
	must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	must(t, os.Symlink(t.TempDir(), dir))
}

func danglingLink(t *testing.T, dir string) {
	must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	must(t, os.Symlink(filepath.Join(t.TempDir(), "gone"), dir))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
