package control

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lnk/settings"
)

func TestAPauseSaysWhyWhenAndByWhom(t *testing.T) {
	home := newHome(t)
	need(t, Pause(home, box, "it is odd", "ada"))
	records, errs := Paused(home)
	if len(errs) != 0 || len(records) != 1 {
		t.Fatalf("the list is %v, %v", records, errs)
	}
	r := records[0]
	if r.Name != box || r.Why != "it is odd" || r.By != "ada" {
		t.Fatalf("the record is %+v", r)
	}
	wantRecent(t, r.Since)
	info, err := os.Lstat(home.Paused(box))
	need(t, err)
	if info.Mode() != 0o600 {
		t.Fatalf("the file's mode is %v", info.Mode())
	}
}

func TestTheFirstOfTwoPausesKeepsItsReason(t *testing.T) {
	for kind, make := range kinds {
		t.Run(kind, func(t *testing.T) {
			home := newHome(t)
			make(t, home.Paused(box))
			before, err := os.Lstat(home.Paused(box))
			need(t, err)
			need(t, Pause(home, box, "second", "grace"))
			after, err := os.Lstat(home.Paused(box))
			need(t, err)
			if !os.SameFile(before, after) || before.Size() != after.Size() || before.ModTime() != after.ModTime() {
				t.Fatal("the second pause changed the first")
			}
		})
	}
}

func TestPausingMakesTheSettingsFolder(t *testing.T) {
	home := newHome(t)
	need(t, os.RemoveAll(home.Dir()))
	need(t, Pause(home, box, "lunch", "ada"))
	wantCause(t, newGate(t, home).Look(), CausePaused)
}

func TestResuming(t *testing.T) {
	cases := map[string]struct {
		do   func(t *testing.T, h settings.Home)
		want string // in the error; empty: none
		is   error
	}{
		"a pause":                    {func(t *testing.T, h settings.Home) { need(t, Pause(h, box, "", "")) }, "", nil},
		"what isn't paused":          {func(*testing.T, settings.Home) {}, "resuming box: not paused", ErrNotPaused},
		"a folder with files":        {func(t *testing.T, h settings.Home) { kinds["a folder with files"](t, h.Paused(box)) }, "folder that holds files", nil},
		"without a folder of pauses": {func(t *testing.T, h settings.Home) { need(t, os.Remove(h.PausedFolder())) }, "no such file", nil},
		"a folder of pauses that isn't": {func(t *testing.T, h settings.Home) {
			need(t, os.Remove(h.PausedFolder()))
			need(t, os.WriteFile(h.PausedFolder(), nil, 0o600))
		}, "not a directory", nil},
		"only its own, not another's":    {func(t *testing.T, h settings.Home) { need(t, Pause(h, "other", "", "")) }, "not paused", ErrNotPaused},
		"an empty folder":                {func(t *testing.T, h settings.Home) { kinds["a folder"](t, h.Paused(box)) }, "", nil},
		"a dangling link, not its end":   {func(t *testing.T, h settings.Home) { kinds["a dangling link"](t, h.Paused(box)) }, "", nil},
		"a file that nobody may read":    {func(t *testing.T, h settings.Home) { kinds["a file that nobody may read"](t, h.Paused(box)) }, "", nil},
		"a pause that was made by touch": {func(t *testing.T, h settings.Home) { kinds["an empty file"](t, h.Paused(box)) }, "", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			c.do(t, home)
			err := Resume(home, box)
			if c.want == "" {
				need(t, err)
				wantCause(t, newGate(t, home).Look(), CauseOpen)
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNotPaused) != (c.is != nil) {
				t.Fatalf("resuming: %v, want %q", err, c.want)
			}
			if again := EndPause(home, box); (again == nil) != (c.is == ErrNotPaused) {
				t.Fatalf("ending the pause: %v", again)
			}
		})
	}
}

func TestResumingALinkLeavesWhatItLeadsTo(t *testing.T) {
	home := newHome(t)
	kept := filepath.Join(t.TempDir(), "kept")
	need(t, os.WriteFile(kept, []byte("mine"), 0o600))
	need(t, os.Symlink(kept, home.Paused(box)))
	need(t, Pause(home, box, "second", "ada"))
	need(t, Resume(home, box))
	if data, err := os.ReadFile(kept); err != nil || string(data) != "mine" {
		t.Fatalf("what the link led to: %q, %v", data, err)
	}
}

func TestOneBrokenPauseHidesNoOther(t *testing.T) {
	home := newHome(t)
	need(t, Pause(home, "zed", "lunch", "ada"))
	for kind, make := range kinds {
		make(t, home.Paused(settings.Name(strings.ReplaceAll(kind, " ", "-"))))
	}
	need(t, os.WriteFile(filepath.Join(home.PausedFolder(), ".swp\x1b[2J"), nil, 0o600))
	records, errs := Paused(home)
	if len(records) != len(kinds)+1 {
		t.Fatalf("%d records, want %d: %v", len(records), len(kinds)+1, records)
	}
	for i, r := range records {
		if i > 0 && records[i-1].Name >= r.Name {
			t.Errorf("%s comes after %s", records[i-1].Name, r.Name)
		}
		wantRecent(t, r.Since)
	}
	if last := records[len(records)-1]; last.Why != "lunch" {
		t.Errorf("the whole record is %+v", last)
	}
	told := errors.Join(errs...).Error()
	for _, part := range []string{"a-dangling-link", "a-folder", "a-FIFO", "a-socket", "a file among the pauses"} {
		if !strings.Contains(told, part) {
			t.Errorf("%q isn't told in %q", part, told)
		}
	}
	if strings.Contains(told, "\x1b") {
		t.Errorf("a control character is told: %q", told)
	}
}

func TestAListThatCannotBeReadIsAnError(t *testing.T) {
	home := newHome(t)
	need(t, os.Remove(home.PausedFolder()))
	if records, errs := Paused(home); len(records) != 0 || len(errs) != 1 {
		t.Fatalf("the list is %v, %v", records, errs)
	}
	if _, errs := Paused(settings.Home{}); len(errs) != 1 {
		t.Fatal("no settings folder is no error")
	}
}

func TestNotesThatPeopleWrite(t *testing.T) {
	when := time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		text string
		want note
	}{
		"nothing":                          {"", note{}},
		"as this package writes it":        {note{"odd", ByWire, when}.text(), note{"odd", ByWire, when}},
		"one line":                         {"back on Monday", note{why: "back on Monday"}},
		"several lines":                    {"\n\n  back on Monday \nmaybe\n", note{why: "back on Monday"}},
		"with carriage returns":            {"why: odd\r\nby: ada\r\n", note{why: "odd", by: "ada"}},
		"a colon in it":                    {"note: see the log: line 3", note{why: "note: see the log: line 3"}},
		"a colon in the reason":            {"why: a: b", note{why: "a: b"}},
		"a time that is none":              {"why: odd\nsince: yesterday\n", note{why: "odd"}},
		"control and bidirectional marks":  {"why: a\x1b[2Jb\u202ec\u2028d\xffe\n", note{why: "a?[2Jb?c?d?e"}},
		"a line longer than is kept":       {strings.Repeat("x", 1000), note{why: strings.Repeat("x", 300)}},
		"a line longer than is kept, wide": {strings.Repeat("é", 1000), note{why: strings.Repeat("é", 300)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := parseNote(c.text)
			if got.why != c.want.why || got.by != c.want.by || !got.since.Equal(c.want.since) {
				t.Fatalf("%q is read as %+v, want %+v", c.text, got, c.want)
			}
		})
	}
}

func FuzzNote(f *testing.F) {
	f.Add("why: odd\nby: the wire\nsince: 2026-11-30T04:00:00Z\n")
	f.Add("back on Monday")
	f.Add("why: \x1b[2J\u202e\n\nby: a: b\nsince: x")
	f.Add("\xff\xfe\x00")
	f.Fuzz(func(t *testing.T, text string) {
		n := parseNote(text)
		for _, s := range []string{n.why, n.by} {
			if clean(s) != s {
				t.Fatalf("%q isn't clean", s)
			}
		}
		// What was read and is written again is read the same, but for blanks at the ends.
		again := parseNote(n.text())
		if again.why != strings.TrimSpace(n.why) || again.by != strings.TrimSpace(n.by) {
			t.Fatalf("%+v is read again as %+v", n, again)
		}
	})
}
