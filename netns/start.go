package netns

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketFD is init's end of the socketpair; the extra descriptors follow it.
const socketFD = 3

// Start clones init in its new namespaces and waits for its hello. An error that is a *RightError names what this machine
// lacks. Every descriptor from 3 on is close-on-exec from here on, so that nothing the caller was given without asking
// reaches the program; what should reach it is in Options.
func Start(o Options) (*Launch, error) {
	if i := slices.Index(o.Extra, nil); i >= 0 {
		return nil, fmt.Errorf("making a room: descriptor %d for the program is nil", socketFD+i)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making the room's socket: %w", err)
	}
	theirs := pair[1]
	defer unix.Close(theirs)
	ours, err := poll(pair[0])
	if err != nil {
		return nil, err
	}
	ch := newChannel(ours)
	if err := closeOnExec(socketFD); err != nil {
		ch.close()
		return nil, err
	}
	l := newLaunch(ch, o)
	if err := l.clone(o, theirs); err != nil {
		ch.close()
		return nil, diagnose(fmt.Errorf("making the namespaces of a room: %w", err), l.userNS)
	}
	if _, err := l.answer(kindHello); err != nil {
		l.Close()
		return nil, diagnose(fmt.Errorf("starting the room's init: %w", err), l.userNS)
	}
	raiseDescriptors()
	return l, nil
}

// clone starts init on a goroutine that keeps its thread until init is gone. The kernel sends a parent-death signal when
// the thread that forked ends, not the process (prctl(2), PR_SET_PDEATHSIG): were the goroutine not locked to it, the
// runtime could end the thread at any time, and init with it.
func (l *Launch) clone(o Options, theirs int) error {
	attr := &syscall.ProcAttr{Files: initFiles(o, theirs), Env: initEnv, Sys: l.attributes()}
	argv := []string{initName, machineFamilies()}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		pid, err := syscall.ForkExec("/proc/self/exe", argv, attr)
		runtime.KeepAlive(o)
		if l.pid = pid; err != nil {
			started <- err
			return
		}
		started <- nil
		l.reap()
	}()
	if err := <-started; err != nil {
		return err
	}
	go l.read()
	return nil
}

// initEnv is init's own environment: the program's comes with the plan. One processor is enough for it, and saves memory;
// then the runtime need not read the control group's limits either.
var initEnv = []string{"GOMAXPROCS=1", "GODEBUG=containermaxprocs=0", "GOTRACEBACK=single"}

func initFiles(o Options, theirs int) []uintptr {
	files := make([]uintptr, 0, socketFD+1+len(o.Extra))
	for _, f := range []*os.File{o.Stdin, o.Stdout, o.Stderr} {
		files = append(files, descriptor(f))
	}
	files = append(files, uintptr(theirs))
	for _, f := range o.Extra {
		files = append(files, descriptor(f))
	}
	return files
}

// descriptor returns a file's descriptor, or for nil what ForkExec takes for closed.
func descriptor(f *os.File) uintptr {
	if f == nil {
		return ^uintptr(0)
	}
	return f.Fd()
}

func (l *Launch) attributes() *syscall.SysProcAttr {
	sys := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Pdeathsig:  unix.SIGKILL,
		PidFD:      &l.pidfd,
	}
	if l.userNS {
		uid, gid := os.Geteuid(), os.Getegid()
		sys.Cloneflags |= unix.CLONE_NEWUSER
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}} // setgroups stays denied
		sys.AmbientCaps = builderCapabilities                                              // exec of another than root clears the others
	}
	return sys
}

// builderCapabilities is what init needs to build a room in a user namespace.
var builderCapabilities = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_SETPCAP}

// closeOnExec marks every descriptor from first on.
func closeOnExec(first uint) error {
	err := unix.CloseRange(first, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) { // before Linux 5.9; before 5.11
		return fmt.Errorf("marking descriptors close-on-exec: %w", err)
	}
	return closeOnExecOneByOne(int(first))
}

func closeOnExecOneByOne(first int) error {
	dir, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("marking descriptors close-on-exec: %w", err)
	}
	for _, entry := range dir {
		var fd int
		if _, err := fmt.Sscan(entry.Name(), &fd); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
