package control

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"lnk/settings"

	"golang.org/x/sys/unix"
)

// kinds are the files that a mark may be. Each makes one at path.
var kinds = map[string]func(t *testing.T, path string){
	"an empty file": func(t *testing.T, path string) { need(t, os.WriteFile(path, nil, 0o600)) },
	"a file with text": func(t *testing.T, path string) {
		need(t, os.WriteFile(path, []byte("back on Monday\n"), 0o600))
	},
	"a file that nobody may read": func(t *testing.T, path string) { need(t, os.WriteFile(path, []byte("x"), 0)) },
	"a folder":                    func(t *testing.T, path string) { need(t, os.Mkdir(path, 0o700)) },
	"a folder with files": func(t *testing.T, path string) {
		need(t, os.MkdirAll(filepath.Join(path, "sub"), 0o700))
	},
	"a dangling link":  func(t *testing.T, path string) { need(t, os.Symlink("/nowhere/at/all", path)) },
	"a link to itself": func(t *testing.T, path string) { need(t, os.Symlink(path, path)) },
	"a FIFO":           func(t *testing.T, path string) { need(t, unix.Mkfifo(path, 0o600)) },
	"a socket": func(t *testing.T, path string) {
		// A socket's path is short; a test's folder may not be.
		dir, err := os.MkdirTemp("", "s")
		need(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
		need(t, err)
		t.Cleanup(func() { l.Close() })
		need(t, os.Rename(filepath.Join(dir, "s"), path))
	},
	"a file that was moved there": func(t *testing.T, path string) {
		need(t, os.WriteFile(path+".new", []byte("x"), 0o600))
		need(t, os.Rename(path+".new", path))
	},
	"a very long file": func(t *testing.T, path string) { need(t, os.WriteFile(path, make([]byte, 1<<20), 0o600)) },
}

func TestAMarkOfAnyKindShutsTheGate(t *testing.T) {
	marks := map[Cause]func(settings.Home) string{
		CauseStopped: settings.Home.Stopped,
		CausePaused:  func(h settings.Home) string { return h.Paused(box) },
	}
	for cause, path := range marks {
		for kind, make := range kinds {
			t.Run(cause.String()+" by "+kind, func(t *testing.T) {
				home := newHome(t)
				g := newGate(t, home)
				wantCause(t, g.Look(), CauseOpen)
				make(t, path(home))
				wantCause(t, g.Look(), cause)
				wantCause(t, newGate(t, home).Look(), cause)
				wantRecent(t, g.Look().Since)
				need(t, os.RemoveAll(path(home)))
				wantCause(t, g.Look(), CauseOpen)
			})
		}
	}
}

func TestTheKillSwitchComesBeforeAPause(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	need(t, Pause(home, box, "lunch", "ada"))
	need(t, Stop(home))
	wantCause(t, g.Look(), CauseStopped)
	need(t, Unstop(home))
	wantCause(t, g.Look(), CausePaused)
}

func TestAPauseIsOneSandboxsAlone(t *testing.T) {
	home := newHome(t)
	need(t, Pause(home, "other", "lunch", "ada"))
	wantCause(t, newGate(t, home).Look(), CauseOpen)
}

func TestWithoutItsFoldersTheGateIsShut(t *testing.T) {
	sandbox := func(h settings.Home) string { return filepath.Dir(h.Stopped()) }
	cases := map[string]struct {
		do    func(t *testing.T, h settings.Home)
		want  Cause
		where string
	}{
		"the whole settings folder is gone": {func(t *testing.T, h settings.Home) { need(t, os.RemoveAll(h.Dir())) }, CauseUnreadable, "folder sandbox: no such file"},
		"the folder sandbox is gone":        {func(t *testing.T, h settings.Home) { need(t, os.RemoveAll(sandbox(h))) }, CauseUnreadable, "folder sandbox: no such file"},
		"the folder of pauses is gone":      {func(t *testing.T, h settings.Home) { need(t, os.Remove(h.PausedFolder())) }, CauseUnreadable, "sandbox/paused: no such file"},
		"the folder was moved away":         {func(t *testing.T, h settings.Home) { need(t, os.Rename(h.Dir(), h.Dir()+".old")) }, CauseUnreadable, "no such file"},
		"the folder of pauses is a file": {func(t *testing.T, h settings.Home) {
			need(t, os.Remove(h.PausedFolder()))
			need(t, os.WriteFile(h.PausedFolder(), nil, 0o600))
		}, CauseUnreadable, "not a directory"},
		"the folder sandbox is a file": {func(t *testing.T, h settings.Home) {
			need(t, os.RemoveAll(sandbox(h)))
			need(t, os.WriteFile(sandbox(h), nil, 0o600))
		}, CauseUnreadable, "not a directory"},
		"the folder sandbox is a dangling link": {func(t *testing.T, h settings.Home) {
			need(t, os.RemoveAll(sandbox(h)))
			need(t, os.Symlink("/nowhere/at/all", sandbox(h)))
		}, CauseUnreadable, "no such file"},
		"the folder sandbox is a link to itself": {func(t *testing.T, h settings.Home) {
			need(t, os.RemoveAll(sandbox(h)))
			need(t, os.Symlink(sandbox(h), sandbox(h)))
		}, CauseUnreadable, "too many levels"},
		"the folder sandbox became a link to where it is now": {func(t *testing.T, h settings.Home) {
			need(t, os.Rename(sandbox(h), sandbox(h)+".elsewhere"))
			need(t, os.Symlink(sandbox(h)+".elsewhere", sandbox(h)))
		}, CauseOpen, ""},
		"the folder was replaced by a whole one": {func(t *testing.T, h settings.Home) {
			need(t, os.RemoveAll(h.Dir()))
			need(t, h.Ensure())
		}, CauseUnreadable, "another than at the start"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			g := newGate(t, home)
			wantCause(t, g.Look(), CauseOpen)
			c.do(t, home)
			s := g.Look()
			wantCause(t, s, c.want)
			wantWhy(t, s, c.where)
			if c.where != "another than at the start" {
				wantCause(t, newGate(t, home).Look(), c.want)
			}
			if c.want == CauseUnreadable { // a new folder opens the gates that began with it, and no other
				os.RemoveAll(sandbox(home))
				os.RemoveAll(home.Dir())
				need(t, home.Ensure())
				wantWhy(t, g.Look(), "another than at the start")
				wantCause(t, newGate(t, home).Look(), CauseOpen)
			}
		})
	}
}

func TestNoErrorIsTakenForOpen(t *testing.T) {
	errnos := []unix.Errno{
		unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EIO, unix.EACCES, unix.EPERM, unix.ELOOP, unix.ENAMETOOLONG,
		unix.ENOTDIR, unix.ESTALE, unix.ENOTCONN, unix.ETIMEDOUT, unix.EOVERFLOW, unix.ENOSYS, unix.EINVAL,
	}
	for _, errno := range errnos {
		home := newHome(t)
		for _, at := range []string{home.Stopped(), home.Paused(box), filepath.Dir(home.Stopped()), home.PausedFolder()} {
			t.Run(errno.Error()+" at "+filepath.Base(at), func(t *testing.T) {
				for _, first := range []bool{true, false} {
					g := newGate(t, home)
					if !first {
						wantCause(t, g.Look(), CauseOpen)
					}
					g.disk = failing(g.disk, at, errno)
					s := g.Look()
					wantCause(t, s, CauseUnreadable)
					wantWhy(t, s, errno.Error())
					g.disk = onDisk
					wantCause(t, g.Look(), CauseOpen)
				}
			})
		}
	}
}

// failing is p with an error at one path.
func failing(p presence, at string, err error) presence {
	return presence{
		mark: func(path string) (trace, error) {
			if path == at {
				return trace{}, err
			}
			return p.mark(path)
		},
		folder: func(path string, before view) (view, error) {
			if path == at {
				return view{}, err
			}
			return p.folder(path, before)
		},
	}
}

// between is p with something done before each of its steps; n counts them from 1.
func between(p presence, do func(n int)) presence {
	n := 0
	return presence{
		mark:   func(path string) (trace, error) { n++; do(n); return p.mark(path) },
		folder: func(path string, before view) (view, error) { n++; do(n); return p.folder(path, before) },
	}
}

func TestGoingFromAStopToAPauseOrBackIsNeverOpen(t *testing.T) {
	swaps := map[string]struct{ before, first, then func(h settings.Home) error }{
		"from a stop to a pause": {Stop, func(h settings.Home) error { return Pause(h, box, "", "") }, Unstop},
		"from a pause to a stop": {func(h settings.Home) error { return Pause(h, box, "", "") }, Stop, func(h settings.Home) error { return Resume(h, box) }},
	}
	for name, swap := range swaps {
		for first := 1; first <= 12; first++ {
			for second := first; second <= 12; second++ {
				home := newHome(t)
				need(t, swap.before(home))
				g := newGate(t, home)
				g.disk = between(onDisk, func(n int) {
					if n == first {
						need(t, swap.first(home))
					}
					if n == second {
						need(t, swap.then(home))
					}
				})
				if s := g.Look(); s.Open() {
					t.Errorf("%s, in steps %d and %d of a look: the gate is open", name, first, second)
				}
			}
		}
	}
}

func TestAFolderReplacedDuringALookHidesNoMark(t *testing.T) {
	for step := 1; step <= 5; step++ { // three looks for marks, two at folders
		home := newHome(t)
		g := newGate(t, home)
		wantCause(t, g.Look(), CauseOpen)
		// The mark is in each of the two folders, but a look that mixes them sees neither.
		g.disk = between(onDisk, func(n int) {
			if n == step {
				need(t, os.RemoveAll(home.Dir()))
				need(t, Stop(home))
			}
		})
		if s := g.Look(); s.Open() {
			t.Errorf("replaced in step %d: the gate is open", step)
		}
		wantCause(t, g.Look(), CauseStopped)
	}
}

func TestFoldersThatNeverStandStillShutTheGate(t *testing.T) {
	g := newGate(t, newHome(t))
	n := uint64(0)
	g.disk.folder = func(string, view) (view, error) {
		n++
		return view{identity: identity{inode: n}}, nil
	}
	s := g.Look()
	wantCause(t, s, CauseUnreadable)
	wantWhy(t, s, "change during each look")
}

func TestAPauseOutlivesItsFolder(t *testing.T) {
	replace := map[string]func(t *testing.T, h settings.Home){
		"the folder of pauses is removed and made again": func(t *testing.T, h settings.Home) {
			need(t, os.RemoveAll(h.PausedFolder()))
			need(t, h.Ensure())
		},
		"the settings are moved away and made again": func(t *testing.T, h settings.Home) {
			need(t, os.Rename(h.Dir(), h.Dir()+".old"))
			need(t, h.Ensure())
		},
	}
	for name, replace := range replace {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			g := newGate(t, home)
			need(t, Pause(home, box, "it is odd", "ada"))
			before := g.Look()
			wantCause(t, before, CausePaused)
			replace(t, home)
			s := g.Look()
			wantCause(t, s, CausePaused)
			if s.Why != before.Why || s.By != before.By || !s.Since.Equal(before.Since) || !s.Held {
				t.Fatalf("carried over as %+v, want %+v, held", s, before)
			}
			wantCause(t, tick(g), CausePaused)
			wantCause(t, newGate(t, home).Look(), CausePaused)
			need(t, Resume(home, box))
			after := CauseOpen
			if name == "the settings are moved away and made again" {
				after = CauseUnreadable // what covers them inside went with the first
			}
			wantCause(t, g.Look(), after)
			wantCause(t, tick(g), after)
		})
	}
}

func TestAFolderThatComesBackOpensItsGateAgain(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	wantCause(t, g.Look(), CauseOpen)
	need(t, os.Rename(home.Dir(), home.Dir()+".old"))
	need(t, home.Ensure())
	wantWhy(t, g.Look(), "another than at the start")
	need(t, os.RemoveAll(home.Dir()))
	need(t, os.Rename(home.Dir()+".old", home.Dir()))
	wantCause(t, g.Look(), CauseOpen)
}

func TestAPauseIsKeptWhileItsFolderIsGone(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	need(t, Pause(home, box, "it is odd", "ada"))
	wantCause(t, g.Look(), CausePaused)
	need(t, os.RemoveAll(home.Dir()))
	wantCause(t, tick(g), CauseUnreadable)
	wantCause(t, tick(g), CauseUnreadable)
	need(t, home.Ensure())
	wantCause(t, g.Look(), CausePaused)
}

func TestAStopThatGoesWithItsFolderLeavesAPause(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	need(t, Stop(home))
	wantCause(t, g.Look(), CauseStopped)
	need(t, os.RemoveAll(home.Dir()))
	need(t, home.Ensure())
	s := g.Look()
	wantCause(t, s, CausePaused)
	wantWhy(t, s, "stopped when the settings folder was replaced")
	tick(g)
	need(t, Resume(home, box))
	wantCause(t, tick(g), CauseUnreadable)
	wantCause(t, newGate(t, home).Look(), CauseOpen)
}

func TestAMarkTakenOutOfItsFolderIsNotCarriedOver(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	need(t, Stop(home))
	need(t, Pause(home, box, "", ""))
	wantCause(t, g.Look(), CauseStopped)
	need(t, Unstop(home))
	wantCause(t, g.Look(), CausePaused)
	need(t, Resume(home, box))
	wantCause(t, g.Look(), CauseOpen)
	need(t, os.RemoveAll(home.Dir()))
	need(t, home.Ensure())
	wantWhy(t, g.Look(), "another than at the start")
	wantCause(t, newGate(t, home).Look(), CauseOpen)
}

func TestAGateThatNobodyMadeIsShut(t *testing.T) {
	var none *Gate
	none.Hold("x")
	new(Gate).Hold("x")
	for _, s := range []State{none.Look(), new(Gate).Look(), {}} {
		if s.Open() || s.Cause != CauseUnknown {
			t.Errorf("the gate is %v", s.Cause)
		}
	}
}

func TestAGateNeedsSettingsAndAName(t *testing.T) {
	home := newHome(t)
	for _, name := range []settings.Name{"", "..", "a/b", ".x", "x\n"} {
		if _, err := NewGate(home, name); err == nil {
			t.Errorf("a gate called %q was made", name)
		}
	}
	if _, err := NewGate(settings.Home{}, box); err == nil {
		t.Error("a gate without settings was made")
	}
}

func TestTheReasonIsReadAgainWhenItChanges(t *testing.T) {
	home := newHome(t)
	g := newGate(t, home)
	need(t, Pause(home, box, "it is odd", "ada"))
	s := g.Look()
	if s.Why != "it is odd" || s.By != "ada" {
		t.Fatalf("the state is %+v", s)
	}
	need(t, settings.WriteFile(home.Paused(box), []byte("why: even odder\nby: grace\n")))
	s = g.Look()
	if s.Why != "even odder" || s.By != "grace" {
		t.Fatalf("the state is %+v", s)
	}
	wantRecent(t, s.Since)
}
