package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"lnk/netns"
)

// explainExec words why a program can't be run. exec's own words would be "no such file" for a name that isn't in PATH,
// and "permission denied" for a folder.
func (a *app) explainExec(e *netns.ExecError) (text, hint string) {
	bare := !strings.Contains(e.Path, "/")
	switch {
	case bare && !a.isThere(e.Path):
		text = fmt.Sprintf("%s: there is no such program in PATH", e.Path)
		if a.getenv("SUDO_UID") != "" {
			hint = `sudo has a PATH of its own; keep yours with: sudo env "PATH=$PATH" lnk sandbox run …`
		}
		return text, hint
	case !bare && isFolder(e.Path):
		return fmt.Sprintf("%s: it is a folder", e.Path), ""
	case e.Status == 127 && a.isThere(e.Path):
		return e.Error(), "the program is there: what its first line names, or its loader, isn't"
	}
	return e.Error(), ""
}

// isThere says whether there is a program to run by that name or path, runnable or not. The process has to be the caller by
// now. Without a PATH it is the room's to say.
func (a *app) isThere(program string) bool {
	if a.getenv("PATH") == "" && !strings.Contains(program, "/") {
		return true
	}
	_, err := exec.LookPath(program)
	return !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist)
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}
