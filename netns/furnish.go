package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// furnisher carries out the steps of a mount plan.
type furnisher struct {
	stage   int // the stage's root
	targets [][]target
}

func (f *furnisher) close() {
	for _, list := range f.targets {
		closeTargets(list)
	}
	if f.stage >= 0 {
		unix.Close(f.stage)
	}
}

func makePrivate() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }

const stageFlags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

func (f *furnisher) openStage() error {
	if err := unix.Mount("tmpfs", "/proc", "tmpfs", stageFlags, "mode=0755"); err != nil {
		return err
	}
	var err error
	if f.stage, err = unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	if err := unix.Mkdirat(f.stage, emptyFolder, 0o700); err != nil {
		return err
	}
	if err := unix.Fchmodat(f.stage, emptyFolder, 0o555, 0); err != nil { // the umask is the caller's
		return err
	}
	return f.write(emptyFile, nil)
}

func (f *furnisher) write(name string, data []byte) error {
	fd, err := unix.Openat(f.stage, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Chmod(0o444)
}

// seal makes the stage's filesystem read-only, and with it every mount of it.
func (f *furnisher) seal() error {
	return unix.Mount("", "/proc", "", unix.MS_REMOUNT|unix.MS_RDONLY|stageFlags, "mode=0755")
}

func (f *furnisher) put(name string, on []target) error {
	for _, t := range on {
		if err := f.mount(name, t.fd); err != nil {
			return err
		}
	}
	return nil
}

func (f *furnisher) cover(on []target) error {
	for _, t := range on {
		name := emptyFile
		if t.folder {
			name = emptyFolder
		}
		if err := f.mount(name, t.fd); err != nil {
			return err
		}
	}
	return nil
}

func (f *furnisher) mount(name string, on int) error {
	tree, err := unix.OpenTree(f.stage, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	return unix.MoveMount(tree, "", on, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

const kernelFlags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// freshProc shows the room's processes. In a user namespace the kernel allows it only where the old one shows all of /proc.
func freshProc(path string) error {
	err := unix.Mount("proc", path, "proc", kernelFlags, "")
	if errors.Is(err, fs.ErrPermission) {
		return &RightError{"a fresh /proc can't be mounted here: this container hides parts of its own",
			"run the container with --security-opt systempaths=unconfined", err}
	}
	return err
}

// freshSysfs shows the room's network devices instead of the machine's, read-only, and the control groups as they are:
// programs read their limits there. Where it is optional the machine's stays if the kernel insists.
func freshSysfs(path string, optional bool) error {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil || st.Type != unix.SYSFS_MAGIC {
		return nil // none here to be replaced
	}
	groups, err := readOnlyTree(path + "/fs/cgroup")
	if err != nil {
		groups = -1 // none is mounted
	} else {
		defer unix.Close(groups)
	}
	err = unix.Mount("sysfs", path, "sysfs", kernelFlags|unix.MS_RDONLY, "")
	if err != nil && optional {
		return nil
	}
	if err != nil || groups < 0 {
		return err
	}
	if err := unix.MoveMount(groups, "", unix.AT_FDCWD, path+"/fs/cgroup", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("control groups: %w", err)
	}
	return nil
}

// protect makes what is at path read-only.
func protect(path string, optional bool) error {
	tree, err := readOnlyTree(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	return unix.MoveMount(tree, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// readOnlyTree is a copy of the mounts at and below path, mounted nowhere yet.
func readOnlyTree(path string) (int, error) {
	tree, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		unix.Close(tree)
		return -1, err
	}
	return tree, nil
}

// pin mounts a folder on itself: rename(2) and rmdir(2) fail with EBUSY on a mount.
func pin(path string) error {
	return os.NewSyscallError("mount", unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""))
}
