package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lnk/integration/internet"
)

// failsClosed fails the test unless lnk said one error line that holds want, ended with 125, and ran nothing.
func (s *stage) failsClosed(r internet.Result, want string) {
	s.t.Helper()
	errors := 0
	for line := range strings.Lines(r.Stderr) {
		if strings.HasPrefix(line, "lnk: error:") {
			errors++
			if !strings.Contains(strings.ToLower(line), want) {
				s.t.Errorf("the error doesn't say %q: %s", want, line)
			}
		}
	}
	if errors != 1 || r.Status != 125 || strings.Contains(r.Stdout, "ran") {
		s.t.Errorf("want one error line, status 125 and no program run: %v", r)
	}
}

func TestTakenName(t *testing.T) {
	each(t, nil, func(s *stage) {
		sh := s.session("it", "-q")
		s.failsClosed(s.run("", "echo", "ran"), "it")
		s.ok(sh.do("echo the first goes on"), "the first goes on")
	})
}

func TestFullDisk(t *testing.T) {
	each(t, nil, func(s *stage) {
		dir := s.who.Settings()
		s.tmpfs(dir, "size=64k,nr_inodes=100")
		full, err := os.Create(filepath.Join(dir, "full"))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, err = full.Write(make([]byte, 4096)); err == nil; _, err = full.Write(make([]byte, 4096)) {
		}
		full.Chown(s.who.UID(), s.who.UID())
		full.Chmod(0o600)
		full.Close()
		s.failsClosed(s.run("", "echo", "ran"), "no space left")
	})
}

func TestNoMoreFiles(t *testing.T) {
	each(t, nil, func(s *stage) {
		s.tmpfs(s.who.Settings(), "nr_inodes=1")
		s.failsClosed(s.run("", "echo", "ran"), "no space left")
	})
}

// tmpfs mounts one for the user at dir, for this test.
func (s *stage) tmpfs(dir, options string) {
	s.t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := unix.Mount("small", dir, "tmpfs", 0, "mode=700,"+options); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			s.t.Error(err)
		}
		os.RemoveAll(dir)
	})
	if err := os.Chown(dir, s.who.UID(), s.who.UID()); err != nil {
		s.t.Fatal(err)
	}
}

func TestUnreadableSettings(t *testing.T) {
	each(t, nil, func(s *stage) {
		dir := s.who.Settings()
		if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the folder must be
			s.t.Fatal(err)
		}
		if err := os.Chown(dir, s.who.UID(), s.who.UID()); err != nil {
			s.t.Fatal(err)
		}
		s.failsClosed(s.run("", "echo", "ran"), dir)
		if err := os.Remove(dir); err != nil {
			s.t.Fatal(err)
		}
		if s.who == internet.Root { // root can read what isn't its own
			return
		}
		if err := os.Mkdir(dir, 0o700); err != nil { // root's own
			s.t.Fatal(err)
		}
		s.failsClosed(s.run("", "echo", "ran"), dir)
		os.RemoveAll(dir)
	})
}

// TestNoRightToMakeNamespaces is a user whose limit of namespaces is used up, and one who may make none at all. What
// "check" says must be what a start comes to.
func TestNoRightToMakeNamespaces(t *testing.T) {
	s := enter(t, internet.Rootless)
	s.ok(s.lnk("sandbox", "check"), "")
	for what, line := range map[string]string{
		"no user namespace":    "echo 1 >/proc/sys/user/max_user_namespaces; exec unshare -U --map-user 4002 --map-group 4002 ",
		"no network namespace": "echo 0 >/proc/sys/user/max_net_namespaces; exec ",
	} {
		r := s.Machine.Run(t, s.who, "unshare", "-Ur", "sh", "-c", line+"lnk sandbox run -- echo ran")
		s.failsClosed(r, "namespace")
		if !strings.Contains(r.Stderr, "lnk: hint:") {
			t.Errorf("%s: there is no hint: %v", what, r)
		}
		if r := s.Machine.Run(t, s.who, "unshare", "-Ur", "sh", "-c", line+"lnk sandbox check"); r.Status == 0 {
			t.Errorf("%s: check says that all is well: %v", what, r)
		}
	}
}

func TestCheck(t *testing.T) {
	each(t, nil, func(s *stage) { s.ok(s.lnk("sandbox", "check"), "") })
}
