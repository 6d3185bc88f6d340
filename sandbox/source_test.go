package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lnk/policy"
	"lnk/settings"
	"lnk/spec"
)

const endpointsSpec = "[network]\nendpoints = [\"a.example.org\"]\n"

func TestWhereASpecComesFrom(t *testing.T) {
	home := testHome(t)
	put(t, home.Spec("build"), endpointsSpec)
	outside := filepath.Join(t.TempDir(), "spec.toml")
	put(t, outside, endpointsSpec)
	link(t, outside, home.Spec("linked"))
	if err := os.Link(outside, home.Spec("twice")); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		file string
		name settings.Name
		path string
		ours bool
	}{
		"no name and no file is no spec":                                {"", "", "", false},
		"a name without a spec is no spec":                              {"", "other", "", false},
		"a name's own spec is read again when it changes":               {"", "build", home.Spec("build"), true},
		"a file that is named wins, and is never read again":            {outside, "build", outside, false},
		"a named file that is the settings' own is read again":          {home.Spec("build"), "", home.Spec("build"), true},
		"a link out of the settings may lead where a sandbox writes":    {"", "linked", home.Spec("linked"), false},
		"and so may a second name of the same file":                     {"", "twice", home.Spec("twice"), false},
		"a file that isn't there is one all the same: reading it fails": {"/nowhere.toml", "", "/nowhere.toml", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := locateSpec(home, tt.file, tt.name, spec.Flags{})
			if err != nil {
				t.Fatal(err)
			}
			if s.path != tt.path || s.ours != tt.ours {
				t.Errorf("path %q, ours %v, want %q, %v", s.path, s.ours, tt.path, tt.ours)
			}
		})
	}
}

func TestReadingASpecAgain(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, path string)
		err    string
	}{
		"one that says something else holds": {func(t *testing.T, path string) { put(t, path, "[network]\nmode = \"none\"\n") }, ""},
		"one that lost its contents doesn't, since no word means mode open": {
			func(t *testing.T, path string) { put(t, path, " \n") }, "empty"},
		"one that can't be read as a spec doesn't": {
			func(t *testing.T, path string) { put(t, path, "[network]\nendpoint = []\n") }, "endpoint"},
		"one that is gone doesn't": {
			func(t *testing.T, path string) { _ = os.Remove(path) }, "no longer"},
		"one that became a link doesn't": {
			func(t *testing.T, path string) { _ = os.Remove(path); link(t, "/etc/hostname", path) }, "no longer"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			home := testHome(t)
			put(t, home.Spec("build"), endpointsSpec)
			s, err := locateSpec(home, "", "build", spec.Flags{})
			if err != nil {
				t.Fatal(err)
			}
			tt.change(t, s.path)
			got, err := s.readAgain(home)
			if tt.err == "" {
				if err != nil || got.Mode() != policy.ModeNone {
					t.Errorf("mode %s, error %v", got.Mode(), err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want one with %q", err, tt.err)
			}
		})
	}
}

func TestASpecsFlagsStayWhenItIsReadAgain(t *testing.T) {
	home := testHome(t)
	put(t, home.Spec("build"), endpointsSpec)
	s, err := locateSpec(home, "", "build", spec.Flags{Endpoints: []string{"b.example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.readAgain(home)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Rules().Endpoints()); n != 2 {
		t.Errorf("%d endpoints, want the file's and the flag's", n)
	}
}

func TestFollowingASpec(t *testing.T) {
	home := testHome(t)
	path := home.Spec("build")
	put(t, path, endpointsSpec)
	s, err := locateSpec(home, "", "build", spec.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	if err := settings.WriteFile(path, []byte("# changed before the first look\n")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	changes := make(chan struct{})
	var following sync.WaitGroup
	following.Go(func() { s.follow(ctx, time.Millisecond, func() { changes <- struct{}{} }) })
	<-changes
	if err := settings.WriteFile(path, []byte("# changed again\n")); err != nil {
		t.Fatal(err)
	}
	<-changes
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	<-changes
	cancel()
	following.Wait()
}
