package netns

import (
	"slices"
	"testing"
)

func TestMountsAreRead(t *testing.T) {
	list, err := parseMounts([]byte(`23 28 0:22 / /proc rw,relatime - proc proc rw
28 1 254:0 /home\040of/u\134x /mnt/a\011b\012c rw shared:1 master:2 - ext4 /dev/vda rw
31 28 0:40 / /odd\9 rw - tmpfs t rw
`))
	must(t, err)
	want := []mountPoint{{23, "0:22", "/", "/proc"}, {28, "254:0", `/home of/u\x`, "/mnt/a\tb\nc"}, {31, "0:40", "/", `/odd\9`}}
	if !slices.Equal(list, want) {
		t.Errorf("%+v", list)
	}
	for _, bad := range []string{"1 2 3\n", "x 28 0:22 / /proc rw\n"} {
		if _, err := parseMounts([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestPathsBelow(t *testing.T) {
	for _, c := range []struct {
		path, folder string
		below        bool
		cut          string
	}{
		{"/a/b", "/a", true, "/b"}, {"/a", "/a", true, ""}, {"/ab", "/a", false, ""}, {"/a", "/", true, "/a"}, {"/", "/", true, ""}, {"/", "/a", false, ""},
	} {
		if got := below(c.path, c.folder); got != c.below {
			t.Errorf("below(%q, %q) = %v", c.path, c.folder, got)
		}
		if c.below {
			if got := cut(c.path, c.folder); got != c.cut {
				t.Errorf("cut(%q, %q) = %q", c.path, c.folder, got)
			}
			if got := join(c.folder, c.cut); got != c.path {
				t.Errorf("join(%q, %q) = %q", c.folder, c.cut, got)
			}
		}
	}
}

func FuzzMounts(f *testing.F) {
	f.Add("23 28 0:22 / /proc rw,relatime - proc proc rw\n")
	f.Add(`1 2 0:1 /\040 /\ rw` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseMounts([]byte(text))
		if err != nil && list != nil {
			t.Error("an error and mounts")
		}
	})
}
