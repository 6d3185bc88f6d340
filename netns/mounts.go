package netns

import (
	"fmt"
	"strconv"
)

// What is done to a room's mount namespace is a list of steps, made before anything is done and carried out by one
// function. The order counts:
//
//   - private: nothing mounted here is seen by the machine, and nothing of the machine's later mounts is seen here;
//   - stage: a tmpfs for what is mounted elsewhere. It lies on /proc, and the fresh /proc then covers it for good: undoing
//     that takes a capability that nobody inside has, and in a nested user namespace the kernel locks the mounts together;
//   - write, seal: the stage gets its files and becomes read-only, with all that is mounted from it;
//   - put, cover: its files go where they are seen;
//   - pin: folders become mounts of themselves, with all that is mounted below, so that nobody can rename them;
//   - proc, sysfs, protect: the kernel's own, for these namespaces.
type step struct {
	do   deed
	name string // in the stage: what is written, or mounted
	data []byte // of write
	path string // where it goes
	// optional: where nothing is at path, nothing is done.
	optional bool
}

type deed string

const (
	doPrivate deed = "private"
	doStage   deed = "stage"
	doWrite   deed = "write"
	doSeal    deed = "seal"
	doPut     deed = "put"
	doCover   deed = "cover"
	doPin     deed = "pin"
	doProc    deed = "proc"
	doSysfs   deed = "sysfs"
	doProtect deed = "protect"
)

// The stage's own entries, mounted on what is covered.
const (
	emptyFolder = "folder"
	emptyFile   = "file"
)

// steps is what init does to its mounts.
func steps(to goBody) []step {
	list := []step{{do: doPrivate}, {do: doStage}}
	var put []step
	for i, f := range to.Files {
		name := strconv.Itoa(i)
		list = append(list, step{do: doWrite, name: name, data: f.Data})
		put = append(put, step{do: doPut, name: name, path: string(f.Path), optional: f.Optional})
	}
	list = append(list, step{do: doSeal})
	list = append(list, put...)
	for _, path := range to.Cover {
		list = append(list, step{do: doCover, path: string(path)})
	}
	for _, path := range to.Pin {
		list = append(list, step{do: doPin, path: string(path)})
	}
	list = append(list, step{do: doProc, path: "/proc"}, step{do: doSysfs, path: "/sys", optional: to.UserNS})
	if to.User.UID == 0 {
		for _, name := range kernelSettings {
			list = append(list, step{do: doProtect, path: "/proc/" + name, optional: name != "sys"})
		}
	}
	return list
}

// kernelSettings are where the kernel asks a writer for no capability, only for uid 0: a core_pattern of root's choice, for
// one, runs as the machine's root. They are protected from root alone. Others can't write there anyway, and a mount below
// /proc would keep a sandbox inside the sandbox from mounting a /proc of its own.
var kernelSettings = []string{"sys", "sysrq-trigger", "acpi", "bus", "dynamic_debug", "fs", "irq", "mtrr", "scsi"}

// furnish carries the steps out. Every path is looked up before the first of them: the stage will hide the machine's /proc,
// which says where a descriptor leads, and a path that is swapped afterwards is still the one that was looked up.
func furnish(list []step) error {
	f := furnisher{stage: -1}
	defer f.close()
	if err := f.lookUp(list); err != nil {
		return err
	}
	for i, s := range list {
		if err := f.carryOut(i, s); err != nil {
			if s.path == "" {
				return fmt.Errorf("mounts: %s: %w", s.do, err)
			}
			return fmt.Errorf("mounts: %s %s: %w", s.do, s.path, err)
		}
	}
	return nil
}

func (f *furnisher) carryOut(i int, s step) error {
	switch s.do {
	case doPrivate:
		return makePrivate()
	case doStage:
		return f.openStage()
	case doWrite:
		return f.write(s.name, s.data)
	case doSeal:
		return f.seal()
	case doPut:
		return f.put(s.name, f.targets[i])
	case doCover:
		return f.cover(f.targets[i])
	case doPin:
		return pin(s.path)
	case doProc:
		return freshProc(s.path)
	case doSysfs:
		return freshSysfs(s.path, s.optional)
	case doProtect:
		return protect(s.path, s.optional)
	}
	return fmt.Errorf("unknown step %q", s.do)
}
