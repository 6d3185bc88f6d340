package netns

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCoveredIsEmptyAndReadOnly(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		dir := w.folder(t)
		home := filepath.Join(dir, "home")
		must(t, os.MkdirAll(filepath.Join(home, "sub"), 0o777))
		must(t, os.WriteFile(filepath.Join(home, "secret"), []byte("secret"), 0o666))
		must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("secret"), 0o666))
		must(t, os.Symlink("home", filepath.Join(dir, "link")))
		must(t, os.Chmod(home, 0o777))
		w.own(t, dir, home, filepath.Join(home, "sub"))
		p := w.plan(`cd ` + dir + `; ls -A home link/ | grep -v :; cat file; touch home/x; mkdir home/y; echo z > file; rm -r home; mv home away; echo end`)
		p.Cover = []string{filepath.Join(dir, "link"), filepath.Join(dir, "file")}
		out := w.run(t, p).out
		if strings.Contains(out, "secret") || !strings.HasSuffix(out, "end\n") {
			t.Errorf("%s", out)
		}
		if n := strings.Count(out, "Read-only file system") + strings.Count(out, "busy") + strings.Count(out, "Permission denied") + strings.Count(out, "cannot create"); n < 5 {
			t.Errorf("%d refusals:\n%s", n, out)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(data) != "secret" {
			t.Errorf("outside: %q, %v", data, err)
		}
	})
}

// own gives paths to the user.
func (w who) own(t *testing.T, paths ...string) {
	t.Helper()
	if w.launcher != 0 {
		return
	}
	for _, path := range paths {
		must(t, os.Lchown(path, w.user.UID, w.user.GID))
	}
}

func TestWhatIsCoveredMustExist(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		p := w.plan("true")
		p.Cover = []string{"/no/such"}
		err := w.fail(t, p)
		if !errors.Is(err, unix.ENOENT) || !strings.Contains(err.Error(), "looking up /no/such") {
			t.Errorf("%v", err)
		}
	})
}

// A folder that is closed to the user now may be opened later: it is covered all the same, where the launcher was root.
func TestCoverFindsWhatTheUserMayNotSee(t *testing.T) {
	everyone[1].only(t, func(t *testing.T, w who) {
		dir := w.folder(t)
		must(t, os.MkdirAll(filepath.Join(dir, "closed/home"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "closed/home/secret"), nil, 0o644))
		w.own(t, filepath.Join(dir, "closed"), filepath.Join(dir, "closed/home"), filepath.Join(dir, "closed/home/secret"))
		must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
		defer os.Chmod(filepath.Join(dir, "closed"), 0o700) // so that it can be removed
		p := w.plan("ls " + dir + "/closed/home 2>&1")
		p.Cover = []string{filepath.Join(dir, "closed/home")}
		if out := w.run(t, p).out; !strings.Contains(out, "Permission denied") {
			t.Errorf("%s", out)
		}
	})
}

// TestCoveredByEveryPath has the same folder mounted elsewhere, as a whole, as a part of its parent and in parts.
func TestCoveredByEveryPath(t *testing.T) {
	for _, w := range everyone {
		t.Run(w.name, func(t *testing.T) {
			if os.Getenv(childEnv) == t.Name() {
				w.coveredByEveryPath(t)
				return
			}
			w.inMounts(t, func(dir string) {
				must(t, os.MkdirAll(dir+"/real/home/sub", 0o755))
				must(t, os.WriteFile(dir+"/real/home/secret", []byte("secret"), 0o644))
				must(t, os.WriteFile(dir+"/real/home/sub/secret", []byte("secret"), 0o644))
				for _, name := range []string{"same", "parent", "below", "with space"} {
					must(t, os.Mkdir(dir+"/"+name, 0o755))
				}
				must(t, unix.Mount(dir+"/real/home", dir+"/same", "", unix.MS_BIND, ""))
				must(t, unix.Mount(dir+"/real", dir+"/parent", "", unix.MS_BIND, ""))
				must(t, unix.Mount(dir+"/real/home/sub", dir+"/below", "", unix.MS_BIND, ""))
				must(t, unix.Mount(dir+"/real/home", dir+"/with space", "", unix.MS_BIND, ""))
			})
		})
	}
}

const mountsEnv = "LNK_TEST_MOUNTS"

func (w who) coveredByEveryPath(t *testing.T) {
	dir := os.Getenv(mountsEnv)
	out, err := os.ReadFile(dir + "/with space/secret")
	if err != nil || string(out) != "secret" {
		t.Fatalf("the mounts aren't there: %v", err)
	}
	p := w.plan("cd " + dir + "; find . -name secret; cat same/secret parent/home/secret below/secret real/home/sub/secret 'with space/secret'")
	p.Cover = []string{dir + "/real/home"}
	if got := w.run(t, p); strings.HasPrefix(got.out, "./") || strings.Contains(got.out, "secretsecret") || strings.Count(got.out, "No such file") != 5 {
		t.Errorf("%s", got.out)
	}
}

// inMounts runs the test's own process in a mount namespace that was prepared as root.
func (w who) inMounts(t *testing.T, prepare func(dir string)) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "lnk-netns-test-")
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	defer os.RemoveAll(dir)
	t.Setenv(mountsEnv, dir)
	inNamespaces(t, unix.CLONE_NEWNS, func() {
		must(t, makePrivate())
		prepare(dir)
	}, func() { w.again(t) })
}

func TestReplacedFiles(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		dir := w.folder(t)
		for name, text := range map[string]string{"plain": "outside", "target": "outside"} {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		}
		must(t, os.Symlink("target", filepath.Join(dir, "link")))
		must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
		p := w.plan("cd " + dir + "; cat plain target link dangling; echo x > plain; echo x > link; chmod 777 plain; stat -c %a plain")
		for _, name := range []string{"plain", "link", "dangling"} {
			p.Replace = append(p.Replace, File{filepath.Join(dir, name), []byte("inside " + name + "\n")})
		}
		out := w.run(t, p).out
		if !strings.HasPrefix(out, "inside plain\noutsideinside link\ninside dangling\n") || !strings.HasSuffix(out, "\n444\n") {
			t.Errorf("%s", out)
		}
		for _, name := range []string{"plain", "target"} {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != "outside" {
				t.Errorf("%s outside: %q, %v", name, data, err)
			}
		}
	})
}

func TestWhatIsReplacedMustExist(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		p := w.plan("true")
		p.Replace = []File{{"/no/such", nil}}
		if err := w.fail(t, p); !errors.Is(err, unix.ENOENT) {
			t.Errorf("%v", err)
		}
	})
}

// TestAnEtcOfManyKinds has /etc/resolv.conf missing, dangling, and a link to a file.
func TestAnEtcOfManyKinds(t *testing.T) {
	for _, c := range []struct {
		is      string
		prepare func(etc string) error
		want    string
	}{
		{"missing", func(string) error { return nil }, "none"},
		{"a dangling link", func(etc string) error { return os.Symlink("../run/nothing", etc+"/resolv.conf") }, "nameserver 198.18.0.2"},
		{"a link to a file", func(etc string) error {
			return errors.Join(os.WriteFile(etc+"/stub", []byte("stub"), 0o644), os.Symlink("stub", etc+"/resolv.conf"))
		}, "nameserver 198.18.0.2"},
		{"a file", func(etc string) error { return os.WriteFile(etc+"/resolv.conf", []byte("file"), 0o644) }, "nameserver 198.18.0.2"},
	} {
		t.Run(c.is, func(t *testing.T) {
			for _, w := range everyone {
				t.Run(w.name, func(t *testing.T) {
					if os.Getenv(childEnv) == t.Name() {
						out := w.run(t, w.plan("cat /etc/resolv.conf 2>/dev/null || echo none; cat /etc/stub 2>/dev/null")).out
						if !strings.HasPrefix(out, c.want+"\n") || c.is == "a link to a file" && !strings.HasSuffix(out, "\nstub") {
							t.Errorf("%q", out)
						}
						return
					}
					w.inMounts(t, func(dir string) {
						must(t, os.WriteFile(dir+"/hosts", nil, 0o644))
						must(t, c.prepare(dir))
						must(t, unix.Mount(dir, "/etc", "", unix.MS_BIND, ""))
					})
				})
			}
		})
	}
}

func TestTheStageIsNotSeen(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		out := w.run(t, w.plan("ls /proc | grep -cx -e 0 -e 1 -e folder -e file; unshare -Urm sh -c 'umount /proc 2>&1; umount -l /proc 2>&1; ls /proc | grep -cx folder'; true")).out
		if !strings.HasPrefix(out, "1\n") || strings.HasSuffix(out, "\n1\n") {
			t.Errorf("%s", out)
		}
	})
}

// A nested sandbox mounts a /proc of its own, which the kernel allows only where nothing hides a part of this one.
func TestANestedSandboxCanMountItsProc(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		if w.user.UID == 0 {
			return // it can't map root, so there is none
		}
		if out := w.run(t, w.plan("unshare -Urpf --mount-proc sh -c 'cat /proc/1/comm; echo'")).succeed(t); out != "sh\n\n" {
			t.Errorf("%s", out)
		}
	})
}

func TestTheMachinesMountsStay(t *testing.T) {
	each(t, func(t *testing.T, w who) {
		before, err := os.ReadFile("/proc/self/mountinfo")
		must(t, err)
		w.run(t, w.plan("true")).succeed(t)
		after, err := os.ReadFile("/proc/self/mountinfo")
		must(t, err)
		if string(before) != string(after) {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
	})
}
