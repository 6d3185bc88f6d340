package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lnk/settings"
)

func testHome(t *testing.T) settings.Home {
	t.Helper()
	home, err := settings.At(filepath.Join(t.TempDir(), "settings"))
	if err != nil {
		t.Fatal(err)
	}
	if err := home.Ensure(); err != nil {
		t.Fatal(err)
	}
	return home
}

// aRun is a record of a run by this process, which runs; gone makes it one of a process that doesn't.
func aRun(t *testing.T, name settings.Name) Running {
	t.Helper()
	self, err := settings.Self()
	if err != nil {
		t.Fatal(err)
	}
	return Running{Process: self, Name: name, Program: "make", Mode: "open", Since: time.Now().UTC().Truncate(time.Second)}
}

func gone(r Running) Running {
	r.Start++
	return r
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTakingANameThatIsTaken(t *testing.T) {
	home := testHome(t)
	first, err := take(home, aRun(t, "build"))
	if err != nil {
		t.Fatal(err)
	}
	var taken *TakenError
	if _, err := take(home, aRun(t, "build")); !errors.As(err, &taken) || taken.Running.Name != "build" {
		t.Fatalf("error %v, want a TakenError for build", err)
	}
	if err := first.release(); err != nil {
		t.Fatal(err)
	}
	second, err := take(home, aRun(t, "build"))
	if err != nil {
		t.Fatal(err)
	}
	if err := second.release(); err != nil {
		t.Fatal(err)
	}
	if left := entries(t, home.RunsFolder()); len(left) != 0 && !slices.Equal(left, []string{".lock"}) {
		t.Errorf("left in the folder of runs: %q", left)
	}
}

func entries(t *testing.T, folder string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestARecordThatIsNoRunningOnesIsReplaced(t *testing.T) {
	tests := map[string]func(t *testing.T, path string){
		"another process has the pid":     func(t *testing.T, path string) { putRecord(t, path, gone(aRun(t, "build"))) },
		"it is from before the last boot": func(t *testing.T, path string) { r := aRun(t, "build"); r.Boot = "x"; putRecord(t, path, r) },
		"it is cut off":                   func(t *testing.T, path string) { put(t, path, `{"pid":12,"na`) },
		"it is empty":                     func(t *testing.T, path string) { put(t, path, "") },
		"it is a link that leads nowhere": func(t *testing.T, path string) { link(t, "/nowhere", path) },
		"it is a folder": func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, lay := range tests {
		t.Run(name, func(t *testing.T) {
			home := testHome(t)
			lay(t, home.Run("build"))
			c, err := take(home, aRun(t, "build"))
			if err != nil {
				t.Fatal(err)
			}
			if r, err := Find(home, "build"); err != nil || r.Process != c.running.Process {
				t.Errorf("the record is %+v (%v), want the new run's", r, err)
			}
		})
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func putRecord(t *testing.T, path string, r Running) {
	t.Helper()
	put(t, path, recordText(t, r))
}

func TestReleasingLeavesAnothersRecordAlone(t *testing.T) {
	home := testHome(t)
	c, err := take(home, gone(aRun(t, "build")))
	if err != nil {
		t.Fatal(err)
	}
	other, err := take(home, aRun(t, "build")) // the first one's process isn't there: it is replaced
	if err != nil {
		t.Fatal(err)
	}
	if err := c.release(); err != nil {
		t.Fatal(err)
	}
	if r, err := Find(home, "build"); err != nil || r.Process != other.running.Process {
		t.Errorf("the record is %+v (%v), want the second run's", r, err)
	}
}

func TestOneOfManyStartsTakesAStaleName(t *testing.T) {
	home := testHome(t)
	for round := range 50 {
		putRecord(t, home.Run("build"), gone(aRun(t, "build")))
		var wg sync.WaitGroup
		var mu sync.Mutex
		var won []*claim
		for range 8 {
			wg.Go(func() {
				c, err := take(home, aRun(t, "build"))
				var taken *TakenError
				if err != nil && !errors.As(err, &taken) {
					t.Errorf("round %d: %v", round, err)
				}
				if err == nil {
					mu.Lock()
					won = append(won, c)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Fatalf("round %d: %d starts took the name, want one", round, len(won))
		}
		if err := won[0].release(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestList(t *testing.T) {
	home := testHome(t)
	putRecord(t, home.Run("b"), aRun(t, "b"))
	putRecord(t, home.Run("a"), aRun(t, "a"))
	dead := gone(aRun(t, "curl-x7k2"))
	dead.Unnamed = true
	putRecord(t, home.Run("curl-x7k2"), dead)
	put(t, home.Paused("curl-x7k2"), "why")
	putRecord(t, home.Run("kept"), gone(aRun(t, "kept")))
	put(t, home.Paused("kept"), "why")
	put(t, home.Run("broken"), "{")
	putRecord(t, home.Run("liar"), aRun(t, "a"))
	put(t, filepath.Join(home.RunsFolder(), "not a name.json"), "{}")
	put(t, filepath.Join(home.RunsFolder(), "notes.txt"), "{}")

	runs, errs := List(home)
	var got []string
	for _, r := range runs {
		got = append(got, string(r.Name))
	}
	if !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("runs %q, want a and b, by name", got)
	}
	if len(errs) != 2 {
		t.Errorf("errors %v, want one for the broken record and one for the liar's", errs)
	}
	for path, want := range map[string]bool{
		home.Run("curl-x7k2"): false, home.Paused("curl-x7k2"): false,
		home.Run("kept"): false, home.Paused("kept"): true,
	} {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("%s: there is %v, want %v", path, !want, want)
		}
	}
}

func TestListOfAFolderThatIsNotThere(t *testing.T) {
	home, err := settings.At(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	if runs, errs := List(home); len(runs) != 0 || len(errs) != 0 {
		t.Errorf("got %v, %v, want nothing and no error", runs, errs)
	}
}

func TestARecordCarriesNoTextThatMovesATerminal(t *testing.T) {
	home := testHome(t)
	r := aRun(t, "a")
	r.Program = "make\x1b[2J"
	putRecord(t, home.Run("a"), r)
	got, err := Find(home, "a")
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsRune(got.Program, '\x1b') {
		t.Errorf("program %q", got.Program)
	}
}

func TestUpdateKeepsTheRecordWhole(t *testing.T) {
	home := testHome(t)
	c, err := take(home, aRun(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.update(func(r *Running) { r.Mode = "none" }); err != nil {
		t.Fatal(err)
	}
	if r, err := Find(home, "a"); err != nil || r.Mode != "none" || r.Process != c.running.Process {
		t.Errorf("got %+v, %v", r, err)
	}
}
