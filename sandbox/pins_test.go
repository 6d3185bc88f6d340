package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPinsAreTheFoldersThatCouldBeRenamed(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(top, "a", "b", "lnk")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := pins([]string{deep, filepath.Join(top, "a")})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{filepath.Join(top, "a", "b"), filepath.Join(top, "a"), top} {
		if !slices.Contains(got, want) || i == 0 && got[0] != want {
			t.Errorf("pins %q: %s isn't where it belongs", got, want)
		}
	}

	link := filepath.Join(top, "link")
	if err := os.Symlink(deep, link); err != nil {
		t.Fatal(err)
	}
	if got, err := pins([]string{link}); err == nil {
		t.Errorf("a link that could be replaced: %q", got)
	}
}
