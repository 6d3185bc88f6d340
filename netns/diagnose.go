package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// diagnose turns an error of the kernel's into a *RightError where what is missing can be told. It looks at the machine,
// so it runs in the launcher.
func diagnose(err error, userNS bool) error {
	if right := (*RightError)(nil); errors.As(err, &right) {
		return err
	}
	if exec := (*ExecError)(nil); errors.As(err, &exec) {
		return err
	}
	for _, look := range []func(error, bool) (missing, hint string){limitOf, kernelOf, profileOf, rightOf} {
		if missing, hint := look(err, userNS); missing != "" {
			return &RightError{missing, hint, err}
		}
	}
	return err
}

// limitOf: each user namespace has a limit for each kind of namespace; ENOSPC says that one is reached (namespaces(7)).
func limitOf(err error, userNS bool) (missing, hint string) {
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EUSERS) {
		return "", ""
	}
	for _, what := range []string{"user", "net", "mnt", "pid", "ipc", "uts"} {
		if setting("user/max_"+what+"_namespaces") == "0" {
			name := "user.max_" + what + "_namespaces"
			return fmt.Sprintf("this machine allows no %s namespaces (%s is 0)", what, name),
				fmt.Sprintf("sudo sysctl -w %s=10000", name)
		}
	}
	return "this machine's limit of namespaces is reached", "end other sandboxes or containers, or raise user.max_net_namespaces and its like"
}

func kernelOf(err error, userNS bool) (missing, hint string) {
	switch {
	case errors.Is(err, unix.EINVAL) && !hasNamespaces(userNS):
		return "this kernel was built without the namespaces a sandbox is made of", "use a kernel with CONFIG_NET_NS, CONFIG_PID_NS, CONFIG_IPC_NS, CONFIG_UTS_NS and CONFIG_USER_NS"
	case errors.Is(err, fs.ErrNotExist) && !procMounted():
		return "/proc is not mounted", "mount it: mount -t proc proc /proc"
	}
	return "", ""
}

func hasNamespaces(userNS bool) bool {
	kinds := []string{"net", "mnt", "pid", "ipc", "uts"}
	if userNS {
		kinds = append(kinds, "user")
	}
	for _, kind := range kinds {
		if _, err := os.Lstat(proc + "/self/ns/" + kind); err != nil {
			return false
		}
	}
	return true
}

// profileOf: the settings by which a distribution keeps user namespaces from programs.
func profileOf(err error, userNS bool) (missing, hint string) {
	if !userNS || !errors.Is(err, fs.ErrPermission) {
		return "", ""
	}
	if setting("kernel/apparmor_restrict_unprivileged_userns") == "1" {
		return "this machine lets only programs with an AppArmor profile use user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
			"run it with sudo, or: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
	}
	if setting("kernel/unprivileged_userns_clone") == "0" {
		return "this machine lets only root make user namespaces (kernel.unprivileged_userns_clone is 0)",
			"run it with sudo, or: sudo sysctl -w kernel.unprivileged_userns_clone=1"
	}
	return "", ""
}

func rightOf(err error, userNS bool) (missing, hint string) {
	if !errors.Is(err, fs.ErrPermission) {
		return "", ""
	}
	const container = "in a container, run that with --privileged or with --cap-add SYS_ADMIN,NET_ADMIN and --security-opt seccomp=unconfined,apparmor=unconfined"
	switch {
	case userNS && filtered():
		return "a seccomp filter, a container's most likely, forbids making namespaces", container
	case userNS:
		return "this machine gives this user no namespaces, or no rights in them", "run it with sudo; " + container
	}
	return "this root may not make namespaces: it lacks CAP_SYS_ADMIN or CAP_NET_ADMIN", container
}

// filtered tells whether this process is under a seccomp filter (proc_pid_status(5): Seccomp 2).
func filtered() bool {
	status, err := os.ReadFile(proc + "/self/status")
	return err == nil && strings.Contains(string(status), "\nSeccomp:\t2\n")
}

// proc is where the machine tells of itself; tests have others.
var proc = "/proc"

// setting reads /proc/sys/name; empty is none.
func setting(name string) string {
	text, err := os.ReadFile(proc + "/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func procMounted() bool {
	_, err := os.Lstat(proc + "/self/exe")
	return err == nil
}
