package internet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// account is a user of the machine that only the world knows.
type account struct {
	name  string
	id    int
	home  string
	shell string
}

var (
	ada = account{"ada", 4001, "/home/ada", "/bin/sh"} // may use sudo
	bob = account{"bob", 4002, "/home/bob", "/bin/sh"} // may not
	git = account{"git", 4003, serverDir + "/git", "/bin/sh"}
)

// layUsers writes the machine's users, its sudo rights, its name service and its resolver.
func layUsers() error {
	var passwd, group, shadow strings.Builder
	for _, a := range []account{ada, bob, git} {
		fmt.Fprintf(&passwd, "%s:x:%d:%d::%s:%s\n", a.name, a.id, a.id, a.home, a.shell)
		fmt.Fprintf(&group, "%s:x:%d:\n", a.name, a.id)
		fmt.Fprintf(&shadow, "%s:*:20000:0:99999:7:::\n", a.name) // no password, yet not locked
	}
	for file, lines := range map[string]string{"/etc/passwd": passwd.String(), "/etc/group": group.String(), "/etc/shadow": shadow.String()} {
		if err := appendTo(file, lines); err != nil {
			return err
		}
	}
	if err := os.MkdirAll("/etc/sudoers.d", 0o750); err != nil {
		return fmt.Errorf("laying sudo rights: %w", err)
	}
	for _, f := range []struct {
		path, text string
		mode       os.FileMode
	}{
		{"/etc/sudoers.d/ada", "ada ALL=(ALL:ALL) NOPASSWD: ALL\n", 0o440},
		{"/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 " + hostname + "\n", 0o644},
		{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n", 0o644},
		{"/etc/resolv.conf", resolvConf, 0o644},
		{"/etc/hostname", hostname + "\n", 0o644},
	} {
		if err := replace(f.path, f.text, f.mode); err != nil {
			return err
		}
	}
	return os.MkdirAll(serverDir, 0o755)
}

// replace writes a file anew: what was there may be a link to somewhere else.
func replace(path, text string, mode os.FileMode) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("replacing %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return fmt.Errorf("replacing %s: %w", path, err)
	}
	return os.Chmod(path, mode)
}

func appendTo(path, lines string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("adding to %s: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("adding to %s: %w", path, err)
	}
	if !bytes.HasSuffix(old, []byte("\n")) {
		old = append(old, '\n')
	}
	return os.WriteFile(path, append(old, lines...), info.Mode())
}

// freshHomes empties the homes of those who use the machine.
func freshHomes() error {
	for _, a := range []account{ada, bob, {"root", 0, "/root", ""}} {
		if err := empty(a.home); err != nil {
			return fmt.Errorf("emptying the home of %s: %w", a.name, err)
		}
		if err := os.MkdirAll(a.home, 0o700); err != nil {
			return fmt.Errorf("making the home of %s: %w", a.name, err)
		}
		if err := os.Chown(a.home, a.id, a.id); err != nil {
			return fmt.Errorf("making the home of %s: %w", a.name, err)
		}
	}
	return nil
}

func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
