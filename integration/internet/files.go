package internet

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// hostname is the machine's name.
const hostname = "machine"

// serverDir holds the servers' own files: keys, pages, repositories, databases.
const serverDir = "/var/lib/internet"

// copied are the folders of which the machine gets a private copy: an overlay whose upper side is in memory.
var copied = []string{"/etc", "/usr/local", "/var"}

// fresh are the folders that are empty on the machine, with their modes.
var fresh = []struct{ dir, mode string }{
	{"/run", "755"}, {"/home", "755"}, {"/root", "700"}, {"/dev/shm", "1777"}, {"/tmp", "1777"}, {"/var/tmp", "1777"},
}

// layFiles makes the mount namespace's files private and lays those that the machine needs.
func layFiles() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	// The overlays' upper sides live in a tmpfs on /tmp that the machine's own /tmp hides below.
	if err := mount("tmpfs", "/tmp", "mode=700"); err != nil {
		return err
	}
	for _, dir := range copied {
		if err := overlay(dir); err != nil {
			return err
		}
	}
	if err := layTools(); err != nil {
		return err
	}
	for _, f := range fresh {
		if err := mount("tmpfs", f.dir, "mode="+f.mode); err != nil {
			return err
		}
	}
	for _, fs := range []struct{ kind, dir, data string }{
		{"proc", "/proc", ""}, {"sysfs", "/sys", ""}, {"devpts", "/dev/pts", "newinstance,ptmxmode=666,mode=620,gid=5"},
	} {
		if err := mount(fs.kind, fs.dir, fs.data); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/run/lock", "/run/mount", "/run/sudo", "/run/user"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	// The folder that the program was started in may be hidden now.
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return layUsers()
}

func mount(kind, dir, data string) error {
	if err := unix.Mount(kind, dir, kind, 0, data); err != nil {
		return fmt.Errorf("mounting %s on %s: %w", kind, dir, err)
	}
	return nil
}

func overlay(dir string) error {
	base := filepath.Join("/tmp", strings.ReplaceAll(dir, "/", "-"))
	upper, work := filepath.Join(base, "upper"), filepath.Join(base, "work")
	for _, d := range []string{upper, work} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return fmt.Errorf("making an overlay's folder: %w", err)
		}
	}
	return mount("overlay", dir, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", dir, upper, work))
}

// layTools copies the tools, open from descriptor 3 on, to /usr/local/bin.
func layTools() error {
	for i := 0; ; i++ {
		name := os.Getenv(fmt.Sprintf("%s_%d", toolsVar, i))
		if name == "" {
			return nil
		}
		from := os.NewFile(uintptr(3+i), name)
		to, err := os.OpenFile("/usr/local/bin/"+name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
		if err != nil {
			return fmt.Errorf("laying a tool: %w", err)
		}
		if _, err := io.Copy(to, from); err != nil {
			return fmt.Errorf("copying the tool %s: %w", name, err)
		}
		from.Close()
		if err := to.Close(); err != nil {
			return fmt.Errorf("copying the tool %s: %w", name, err)
		}
	}
}
