package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "f"), filepath.Join(dir, "other")
	must(t, os.WriteFile(other, []byte("other"), 0o600))
	for name, before := range map[string]func(){
		"nothing there":       func() {},
		"a file, readable":    func() { must(t, os.WriteFile(path, []byte("old"), 0o644)) },
		"a link":              func() { must(t, os.Symlink(other, path)) },
		"another file's name": func() { must(t, os.Link(other, path)) },
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove(path)
			before()
			must(t, WriteFile(path, []byte("new")))
			info, err := os.Lstat(path)
			if err != nil || info.Mode() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if got, _ := os.ReadFile(path); string(got) != "new" {
				t.Errorf("holds %q", got)
			}
			if got, _ := os.ReadFile(other); string(got) != "other" {
				t.Errorf("the other file holds %q", got)
			}
		})
	}
}

func TestWriteFileThatCannotLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	if err := WriteFile(filepath.Join(dir, "folder"), nil); err == nil {
		t.Error("a folder was replaced")
	}
	if err := WriteFile(filepath.Join(dir, "missing", "f"), nil); err == nil {
		t.Error("wrote into a missing folder")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestReaderNeverSeesHalfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, b := bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 200_000)
	must(t, WriteFile(path, a))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 50 {
				if err := WriteFile(path, a); err != nil {
					t.Error(err)
				}
				if err := WriteFile(path, b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if got, err := ReadFile(path, 1<<20); err != nil || !bytes.Equal(got, a) && !bytes.Equal(got, b) {
			t.Errorf("half a file: %d bytes, %v", len(got), err)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for name, tt := range map[string]struct {
		before func()
		err    string
	}{
		"a file of the limit":    {func() { must(t, os.WriteFile(path, []byte("12345678"), 0o600)) }, ""},
		"a file one byte longer": {func() { must(t, os.WriteFile(path, []byte("123456789"), 0o600)) }, "longer than 8 bytes"},
		"nothing there":          {func() {}, "no such file"},
		"a link": {func() {
			must(t, os.WriteFile(filepath.Join(dir, "g"), nil, 0o600))
			must(t, os.Symlink("g", path))
		}, "too many levels"},
		"a folder":             {func() { must(t, os.Mkdir(path, 0o700)) }, "not a regular file"},
		"a pipe nobody writes": {func() { must(t, unix.Mkfifo(path, 0o600)) }, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove(path)
			tt.before()
			got, err := ReadFile(path, 8)
			if tt.err == "" {
				if err != nil || string(got) != "12345678" {
					t.Errorf("got %q, %v", got, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}
