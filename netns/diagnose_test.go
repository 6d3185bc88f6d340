package netns

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWhatIsMissingIsNamed(t *testing.T) {
	whole := map[string]string{
		"self/exe": "", "self/status": "Seccomp:\t0\n", "self/ns/net": "", "self/ns/mnt": "", "self/ns/pid": "", "self/ns/ipc": "", "self/ns/uts": "", "self/ns/user": "",
	}
	for _, c := range []struct {
		is      string
		err     error
		userNS  bool
		files   map[string]string
		missing string // none: the error as it was
	}{
		{is: "AppArmor keeps user namespaces from programs without a profile", err: unix.EACCES, userNS: true,
			files: map[string]string{"sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}, missing: "kernel.apparmor_restrict_unprivileged_userns is 1"},
		{is: "the same, for root", err: unix.EPERM,
			files: map[string]string{"sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}, missing: "lacks CAP_SYS_ADMIN or CAP_NET_ADMIN"},
		{is: "Debian's switch", err: unix.EPERM, userNS: true,
			files: map[string]string{"sys/kernel/unprivileged_userns_clone": "0\n"}, missing: "kernel.unprivileged_userns_clone is 0"},
		{is: "no user namespaces", err: unix.ENOSPC, userNS: true,
			files: map[string]string{"sys/user/max_user_namespaces": "0\n"}, missing: "no user namespaces (user.max_user_namespaces is 0)"},
		{is: "no network namespaces", err: unix.ENOSPC,
			files: map[string]string{"sys/user/max_user_namespaces": "100\n", "sys/user/max_net_namespaces": "0\n"}, missing: "no net namespaces (user.max_net_namespaces is 0)"},
		{is: "too many", err: unix.ENOSPC, missing: "limit of namespaces is reached"},
		{is: "a container's seccomp filter", err: unix.EPERM, userNS: true,
			files: map[string]string{"self/status": "Name:\tx\nSeccomp:\t2\n"}, missing: "a seccomp filter"},
		{is: "a kernel without namespaces", err: unix.EINVAL, files: map[string]string{"self/ns/net": "-"}, missing: "built without the namespaces"},
		{is: "no /proc", err: unix.ENOENT, files: map[string]string{"self/exe": "-"}, missing: "/proc is not mounted"},
		{is: "another user's limit", err: unix.EPERM, userNS: true, missing: "gives this user no namespaces"},
		{is: "something else", err: unix.EIO},
		{is: "something else that EINVAL stands for", err: unix.EINVAL},
		{is: "a program that may not be executed", err: &ExecError{126, "x", unix.EACCES}, userNS: true},
		{is: "what init knows better", err: &RightError{"this kernel has no veth devices", "sudo modprobe veth", unix.EOPNOTSUPP}, missing: "no veth devices"},
	} {
		t.Run(c.is, func(t *testing.T) {
			files := map[string]string{}
			for _, set := range []map[string]string{whole, c.files} {
				for name, text := range set {
					files[name] = text
				}
			}
			defer func(was string) { proc = was }(proc)
			proc = t.TempDir()
			for name, text := range files {
				if text == "-" {
					continue
				}
				path := filepath.Join(proc, name)
				must(t, os.MkdirAll(filepath.Dir(path), 0o755))
				must(t, os.WriteFile(path, []byte(text), 0o644))
			}
			err := diagnose(fmt.Errorf("making it: %w", c.err), c.userNS)
			var right *RightError
			if is := errors.As(err, &right); is != (c.missing != "") {
				t.Fatalf("%v", err)
			}
			if right != nil && (!strings.Contains(right.Missing, c.missing) || right.Hint == "") {
				t.Errorf("%+v", right)
			}
			if errno := unix.Errno(0); errors.As(c.err, &errno) && !errors.Is(err, errno) {
				t.Errorf("%v is no longer %v", err, errno)
			}
		})
	}
}

func TestAKernelThatLacksRules(t *testing.T) {
	for _, c := range []struct {
		err     error
		lacking bool
	}{
		{unix.EPROTONOSUPPORT, true}, {unix.EOPNOTSUPP, true}, {unix.ENOENT, true}, {unix.EPERM, false}, {unix.ENOBUFS, false}, {nil, false},
	} {
		err := lacking(c.err)
		var right *RightError
		if errors.As(err, &right) != c.lacking || !errors.Is(err, c.err) {
			t.Errorf("%v became %v", c.err, err)
		}
	}
}

// TestLimitsOfTheKernelItself sets the limits of a user namespace of the test's own, where the launcher is.
func TestLimitsOfTheKernelItself(t *testing.T) {
	for _, kind := range []string{"user", "net", "mnt", "pid", "ipc", "uts"} {
		t.Run(kind, func(t *testing.T) {
			if os.Getenv(childEnv) == t.Name() {
				must(t, os.WriteFile("/proc/sys/user/max_"+kind+"_namespaces", []byte("0"), 0))
				_, err := Start(Options{Rootless: true})
				var right *RightError
				if !errors.As(err, &right) || right.Missing != fmt.Sprintf("this machine allows no %s namespaces (user.max_%[1]s_namespaces is 0)", kind) {
					t.Errorf("%v", err)
				}
				return
			}
			inUserNamespace(t)
		})
	}
}

func TestARootWithoutTheRightToMakeNamespaces(t *testing.T) {
	w := everyone[0]
	if os.Getenv(childEnv) != t.Name() {
		w.again(t, "setpriv", "--bounding-set=-sys_admin")
		return
	}
	_, err := Start(Options{})
	var right *RightError
	if !errors.As(err, &right) || !errors.Is(err, unix.EPERM) || !strings.Contains(right.Missing, "lacks CAP_SYS_ADMIN") {
		t.Errorf("%v", err)
	}
	l, err := Start(Options{Rootless: true}) // it can still have a user namespace
	must(t, err)
	defer l.Close()
	room, err := l.Build(w.plan("true"))
	must(t, err)
	defer room.close()
	must(t, l.Go())
	status, err := l.Wait()
	if err != nil || status != (Status{}) {
		t.Errorf("%+v, %v", status, err)
	}
}
