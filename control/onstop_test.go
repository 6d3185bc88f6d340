package control

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lnk/settings"

	"golang.org/x/sys/unix"
)

func sh(name settings.Name, script string) OnStop {
	return OnStop{Name: name, Command: []string{"/bin/sh", "-c", script}}
}

func TestRegisteringListingAndRemoving(t *testing.T) {
	home := newHome(t)
	zed := OnStop{Name: "zed", Command: []string{"/bin/echo", "a b", "", "ü\n"}, Directory: "/tmp", Seconds: 3}
	need(t, AddOnStop(home, zed))
	need(t, AddOnStop(home, sh("amy", "false")))
	need(t, AddOnStop(home, sh("amy", "true")))
	all, errs := ListOnStop(home)
	if want := []OnStop{sh("amy", "true"), zed}; len(errs) != 0 || !reflect.DeepEqual(all, want) {
		t.Fatalf("the list is %+v, %v, want %+v", all, errs, want)
	}
	need(t, RemoveOnStop(home, "amy"))
	if err := RemoveOnStop(home, "amy"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("removing it again: %v", err)
	}
	if all, errs := ListOnStop(home); len(all) != 1 || len(errs) != 0 {
		t.Fatalf("the list is %v, %v", all, errs)
	}
	info, err := os.Lstat(home.OnStop("zed"))
	need(t, err)
	if info.Mode() != 0o600 {
		t.Fatalf("the record's mode is %v", info.Mode())
	}
}

func TestTheProgramIsLookedForWhenItIsRegistered(t *testing.T) {
	home := newHome(t)
	bin := t.TempDir()
	need(t, os.WriteFile(filepath.Join(bin, "halt-it"), []byte("#!/bin/sh\necho halted \"$1\"\n"), 0o700))
	t.Setenv("PATH", bin)
	command := []string{"halt-it", "now"}
	need(t, AddOnStop(home, OnStop{Name: box, Command: command}))
	if command[0] != "halt-it" {
		t.Fatal("the caller's command was changed")
	}
	t.Setenv("PATH", "/nowhere")
	results := RunOnStop(t.Context(), home)
	if len(results) != 1 || results[0].Err != nil || results[0].Output != "halted now" {
		t.Fatalf("the results are %+v", results)
	}
}

func TestWhatCannotBeRegistered(t *testing.T) {
	cases := map[string]struct {
		o    OnStop
		want string
	}{
		"no name":              {OnStop{Command: []string{"/bin/true"}}, "name is empty"},
		"a name with a slash":  {OnStop{Name: "../x", Command: []string{"/bin/true"}}, "only letters"},
		"no command":           {OnStop{Name: box}, "there is no command"},
		"an empty program":     {OnStop{Name: box, Command: []string{""}}, "there is no command"},
		"a missing program":    {OnStop{Name: box, Command: []string{"no-such-program-here"}}, "looking for the program"},
		"a relative directory": {OnStop{Name: box, Command: []string{"/bin/true"}, Directory: "x"}, "absolute"},
		"a negative limit":     {OnStop{Name: box, Command: []string{"/bin/true"}, Seconds: -1}, "limit"},
		"a very long command":  {OnStop{Name: box, Command: []string{"/bin/true", strings.Repeat("x", 300<<10)}}, "longer than"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			err := AddOnStop(home, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("registering: %v, want %q", err, c.want)
			}
			if all, errs := ListOnStop(home); len(all) != 0 || len(errs) != 0 {
				t.Fatalf("the list is %v, %v", all, errs)
			}
		})
	}
}

func TestEachCommandRunsWhateverTheOthersDo(t *testing.T) {
	home := newHome(t)
	done := t.TempDir()
	for _, name := range []settings.Name{"a", "m", "z"} {
		need(t, AddOnStop(home, OnStop{Name: name, Command: []string{"/bin/sh", "-c", "pwd; echo said; echo told >&2; touch " + string(name)}, Directory: done}))
	}
	need(t, AddOnStop(home, sh("fails", "printf 'a\\033[2Jb\\n'; exit 7")))
	need(t, AddOnStop(home, sh("dies", "kill -9 $$")))
	need(t, AddOnStop(home, OnStop{Name: "nodir", Command: []string{"/bin/true"}, Directory: "/nowhere/at/all"}))
	need(t, os.WriteFile(home.OnStop("broken"), []byte("{"), 0o600))
	need(t, os.WriteFile(home.OnStop("empty"), []byte("{}"), 0o600))
	need(t, os.WriteFile(home.OnStop("relative"), []byte(`{"command":["true"]}`), 0o600))
	need(t, os.Symlink("/nowhere", home.OnStop("dangling")))
	need(t, os.Mkdir(home.OnStop("folder"), 0o700))
	need(t, os.WriteFile(filepath.Join(home.OnStopFolder(), "not a name.json"), []byte("{}"), 0o600))
	need(t, os.WriteFile(filepath.Join(home.OnStopFolder(), ".half.json.123"), nil, 0o600))
	want := map[settings.Name]string{
		"a": "", "m": "", "z": "", "fails": "exit status 7", "dies": "signal: killed", "nodir": "no such file",
		"broken": "unexpected end", "empty": "there is no command", "relative": "absolute", "dangling": "reading what dangling",
		"folder": "not a regular file", "not a name": "only letters",
	}
	results := RunOnStop(t.Context(), home)
	for i, r := range results {
		part, known := want[r.Name]
		delete(want, r.Name)
		switch {
		case !known:
			t.Errorf("an unexpected result: %+v", r)
		case part == "" && (r.Err != nil || r.Output != done+"\nsaid\ntold"):
			t.Errorf("the result is %+v", r)
		case part != "" && (r.Err == nil || !strings.Contains(r.Err.Error(), part)):
			t.Errorf("the result of %s is %v, want %q", r.Name, r.Err, part)
		case r.Name == "fails" && r.Output != "a?[2Jb":
			t.Errorf("it printed %q", r.Output)
		case i > 0 && results[i-1].Name > r.Name:
			t.Errorf("%s comes after %s", results[i-1].Name, r.Name)
		}
	}
	if len(want) != 0 {
		t.Errorf("no result for %v", want)
	}
	for _, name := range []string{"a", "m", "z"} {
		if !exists(filepath.Join(done, name)) {
			t.Errorf("%s didn't run", name)
		}
	}
}

func TestACommandThatHangsIsEndedWithAllItStarted(t *testing.T) {
	home := newHome(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	kinds["a FIFO"](t, fifo)
	hangs := sh("hangs", `cat `+fifo+` & echo started; wait`)
	hangs.Seconds = 1
	need(t, AddOnStop(home, hangs))
	need(t, AddOnStop(home, sh("works", "true")))
	results := RunOnStop(t.Context(), home)
	if len(results) != 2 || results[1].Err != nil {
		t.Fatalf("the results are %+v", results)
	}
	if r := results[0]; r.Err == nil || !strings.Contains(r.Err.Error(), "longer than 1s") || r.Output != "started" {
		t.Fatalf("the result is %+v", r)
	}
	// Nobody has the FIFO open for reading any more.
	if _, err := os.OpenFile(fifo, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
		t.Fatal("what it started still runs")
	}
}

func TestACommandMayLeaveSomethingRunning(t *testing.T) {
	home := newHome(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	kinds["a FIFO"](t, fifo)
	need(t, AddOnStop(home, sh("leaves", `cat `+fifo+` & echo done`)))
	results := RunOnStop(t.Context(), home)
	if len(results) != 1 || results[0].Err != nil || results[0].Output != "done" {
		t.Fatalf("the results are %+v", results)
	}
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // ends what it left
	need(t, err)
	need(t, f.Close())
}

func TestCommandsEndWithTheirContext(t *testing.T) {
	home := newHome(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	kinds["a FIFO"](t, fifo)
	need(t, AddOnStop(home, sh("hangs", "read x < "+fifo)))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // returns when the command reads
		if err == nil {
			cancel()
			<-ctx.Done()
			f.Close()
		}
	}()
	results := RunOnStop(ctx, home)
	if len(results) != 1 || !errors.Is(results[0].Err, context.Canceled) {
		t.Fatalf("the results are %+v", results)
	}
}

func TestManyCommandsRunSideBySide(t *testing.T) {
	home := newHome(t)
	dir := t.TempDir()
	// Opening a FIFO waits for the other end: none of a pair can end unless the other runs at the same time.
	for i := range 10 {
		n := string(rune('a' + i))
		fifo := filepath.Join(dir, n)
		kinds["a FIFO"](t, fifo)
		need(t, AddOnStop(home, sh(settings.Name("reads-"+n), "read x < "+fifo)))
		need(t, AddOnStop(home, sh(settings.Name("writes-"+n), "echo x > "+fifo)))
	}
	for _, r := range RunOnStop(t.Context(), home) {
		if r.Err != nil {
			t.Errorf("%+v", r)
		}
	}
}

func TestOnlyTheEndOfALongOutputIsKept(t *testing.T) {
	var out tail
	for range 100 {
		if n, err := out.Write([]byte(strings.Repeat("x", 999) + "\n")); n != 1000 || err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := out.Write([]byte(strings.Repeat("y", 10000) + "\nlast\n")); err != nil {
		t.Fatal(err)
	}
	if len(out.buf) != maxOutput || !strings.HasSuffix(out.text(), "y\nlast") {
		t.Fatalf("%d bytes are kept, ending in %q", len(out.buf), out.text()[len(out.text())-10:])
	}
}

func TestNothingRegisteredIsNoFailure(t *testing.T) {
	home := newHome(t)
	if results := RunOnStop(t.Context(), home); len(results) != 0 {
		t.Fatalf("the results are %+v", results)
	}
	need(t, os.Remove(home.OnStopFolder()))
	if results := RunOnStop(t.Context(), home); len(results) != 0 {
		t.Fatalf("the results are %+v", results)
	}
	if sh(box, "").limit() != 10*time.Second {
		t.Fatalf("the limit is %v", sh(box, "").limit())
	}
}
