package control

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lnk/settings"

	"golang.org/x/sys/unix"
)

// What a kernel really does to a process without descriptors, rights or space. Each runs in a process of its own.

func init() {
	roles["few descriptors"] = fewDescriptors
	roles["ordinary user"] = ordinaryUser
	roles["full, read-only and covered"] = fullReadOnlyAndCovered
}

func TestWithoutDescriptorsTheGateWorksAndPauses(t *testing.T) {
	runRole(t, "few descriptors", nil, t.TempDir())
}

func TestFoldersClosedToTheUserShutTheGate(t *testing.T) {
	dir, err := os.MkdirTemp("", "control")
	need(t, err)
	defer os.RemoveAll(dir)
	runRole(t, "ordinary user", nil, dir)
}

// A namespace of its own keeps the mounts from the machine; for an ordinary user it takes a user namespace as well.
func TestFullReadOnlyAndCoveredFileSystems(t *testing.T) {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	runRole(t, "full, read-only and covered", attr, t.TempDir())
}

func roleHome(dir string) (settings.Home, *Gate) {
	home, err := settings.At(dir)
	must(err)
	must(home.Ensure())
	g, err := NewGate(home, box)
	must(err)
	expect(g.Look().Open(), "the gate isn't open at first: %v", g.Look())
	return home, g
}

func expectCause(s State, want Cause, when string) {
	expect(s.Cause == want, "%s: the gate is %v (%s), want %v", when, s.Cause, s.Why, want)
}

// exhaust takes every descriptor that is left, and returns what gives them back.
func exhaust() func() {
	var limit unix.Rlimit
	must(unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	limit.Cur = 32
	must(unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	var taken []int
	for {
		fd, err := unix.Dup(0)
		if err != nil {
			expect(err == unix.EMFILE, "duplicating a descriptor: %v", err)
			return func() {
				for _, fd := range taken {
					unix.Close(fd)
				}
			}
		}
		taken = append(taken, fd)
	}
}

func fewDescriptors() {
	home, g := roleHome(filepath.Join(os.Args[1], "lnk"))
	other, err := NewGate(home, "other")
	must(err)
	must(Pause(home, "other", "lunch", "ada"))

	giveBack := exhaust()
	expect(g.Look().Open(), "without descriptors: the gate is %+v", g.Look())
	s := other.Look()
	expectCause(s, CausePaused, "a pause that can't be read")
	expect(s.Why == "" && !s.Since.IsZero(), "a pause that can't be read says %+v", s)
	must(Stop(home))
	expectCause(g.Look(), CauseStopped, "stopped without descriptors")
	must(Unstop(home))
	expectCause(Stopped(home), CauseOpen, "unstopped without descriptors")

	g.Hold("30 refusals within a minute")
	s = g.Look()
	expectCause(s, CausePaused, "held without descriptors")
	expect(!s.Held && s.Why == "30 refusals within a minute", "held without descriptors: %+v", s)
	info, err := os.Lstat(home.Paused(box))
	must(err)
	expect(info.Size() == 0, "the mark has %d bytes, want none yet", info.Size())
	expectCause(tick(g), CausePaused, "a tick without descriptors")
	must(Resume(home, box))
	expectCause(g.Look(), CauseOpen, "resumed without descriptors")
	g.Hold("20 different targets refused within 10 minutes")

	giveBack()
	expectCause(tick(g), CausePaused, "with descriptors again")
	records, errs := Paused(home)
	expect(len(errs) == 0 && len(records) == 2, "the list is %v, %v", records, errs)
	expect(records[0].Why == "20 different targets refused within 10 minutes" && records[0].By == ByWire, "the record is %+v", records[0])
	expect(other.Look().Why == "lunch", "the other's reason is %q", other.Look().Why)
}

func ordinaryUser() {
	if os.Getuid() == 0 {
		must(os.Chown(os.Args[1], 1001, 1001))
		must(syscall.Setgroups(nil))
		must(syscall.Setgid(1001))
		must(syscall.Setuid(1001))
	}
	home, g := roleHome(filepath.Join(os.Args[1], "lnk"))
	for _, dir := range []string{home.Dir(), filepath.Dir(home.Stopped()), home.PausedFolder()} {
		for _, mode := range []os.FileMode{0, 0o100, 0o200, 0o300, 0o400, 0o600} {
			when := fmt.Sprintf("%s has mode %o", filepath.Base(dir), mode)
			must(os.Chmod(dir, mode))
			if searchOnly := dir == home.Dir() && mode&0o100 != 0; searchOnly {
				expectCause(g.Look(), CauseOpen, when) // nothing of the wire's lies in it
			} else {
				expectCause(g.Look(), CauseUnreadable, when)
				expect(strings.Contains(g.Look().Why, "permission denied"), "%s: the reason is %q", when, g.Look().Why)
			}
			must(os.Chmod(dir, 0o700))
			expectCause(tick(g), CauseOpen, "readable again")
		}
	}

	must(os.Chmod(home.PausedFolder(), 0o500))
	g.Hold("odd")
	s := g.Look()
	expectCause(s, CausePaused, "held in a folder that can't be written to")
	expect(s.Held, "the state is %+v", s)
	must(os.Chmod(home.PausedFolder(), 0))
	expectCause(tick(g), CausePaused, "held in a folder that can't be searched")
	must(os.Chmod(home.PausedFolder(), 0o700))
	expectCause(tick(g), CausePaused, "written")
	expect(!g.Look().Held && exists(home.Paused(box)), "the pause wasn't written: %+v", g.Look())
	must(Resume(home, box))
	expectCause(tick(g), CauseOpen, "resumed")

	must(Pause(home, box, "lunch", "ada"))
	must(os.Chmod(home.Paused(box), 0))
	expectCause(g.Look(), CausePaused, "a pause that nobody may read")
	records, errs := Paused(home)
	expect(len(records) == 1 && len(errs) == 1, "the list is %v, %v", records, errs)
}

func fullReadOnlyAndCovered() {
	must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	disk := os.Args[1]
	mount := func(at, options string) { must(unix.Mount("tmpfs", at, "tmpfs", 0, options)) }

	mount(disk, "size=1m,mode=700")
	home, g := roleHome(filepath.Join(disk, "lnk"))
	noSpace(disk, home, g)
	must(unix.Unmount(disk, unix.MNT_DETACH))

	mount(disk, "nr_inodes=24,mode=700")
	home, g = roleHome(filepath.Join(disk, "lnk"))
	noInodes(disk, home, g)

	must(os.RemoveAll(filepath.Join(disk, "files")))
	readOnly(disk, home, g)
	covered(home, g, mount)
}

// noSpace: the mark takes no block, its text does.
func noSpace(disk string, home settings.Home, g *Gate) {
	ballast := filepath.Join(disk, "ballast")
	err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600)
	expect(err != nil, "2 MB fit on a disk of 1 MB")
	must(Stop(home))
	expectCause(g.Look(), CauseStopped, "stopped on a full disk")
	must(Unstop(home))
	err = Pause(home, box, "lunch", "ada")
	expect(err != nil && strings.Contains(err.Error(), "box is paused, but not why"), "pausing on a full disk: %v", err)
	expectCause(g.Look(), CausePaused, "paused on a full disk")
	must(Resume(home, box))

	g.Hold("odd")
	s := g.Look()
	expectCause(s, CausePaused, "held on a full disk")
	expect(!s.Held && s.Why == "odd", "held on a full disk: %+v", s)
	expect(exists(home.Paused(box)), "no mark on a full disk")
	must(os.Remove(ballast))
	tick(g)
	records, errs := Paused(home)
	expect(len(errs) == 0 && len(records) == 1 && records[0].Why == "odd", "the list is %v, %v", records, errs)
}

// noInodes: not even the mark can be made.
func noInodes(disk string, home settings.Home, g *Gate) {
	files := filepath.Join(disk, "files")
	must(os.Mkdir(files, 0o700))
	var err error
	for i := 0; err == nil; i++ {
		expect(i < 1000, "inodes don't end")
		err = os.WriteFile(filepath.Join(files, fmt.Sprint(i)), nil, 0o600)
	}
	g.Hold("odd")
	s := g.Look()
	expectCause(s, CausePaused, "held without inodes")
	expect(s.Held && !exists(home.Paused(box)), "held without inodes: %+v", s)
	expectCause(tick(g), CausePaused, "a tick without inodes")
	expect(Stop(home) != nil, "a stop without inodes says that it stopped")
	must(os.Remove(filepath.Join(files, "0")))
	s = tick(g)
	expectCause(s, CausePaused, "with an inode again")
	expect(!s.Held && exists(home.Paused(box)), "with an inode again: %+v", s)
	must(Resume(home, box))
	expectCause(tick(g), CauseOpen, "resumed")
}

func readOnly(disk string, home settings.Home, g *Gate) {
	must(unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	expectCause(g.Look(), CauseOpen, "read-only and readable")
	g.Hold("odd")
	s := tick(g)
	expectCause(s, CausePaused, "held read-only")
	expect(s.Held, "held read-only: %+v", s)
	expect(Stop(home) != nil && Pause(home, "other", "", "") != nil, "a mark was made read-only")
	must(unix.Mount("", disk, "", unix.MS_REMOUNT, ""))
	s = tick(g)
	expectCause(s, CausePaused, "writable again")
	expect(!s.Held && exists(home.Paused(box)), "writable again: %+v", s)
}

// covered begins with a pause that is in force.
func covered(home settings.Home, g *Gate, mount func(at, options string)) {
	mount(home.PausedFolder(), "mode=700")
	expectCause(tick(g), CausePaused, "its folder covered by another file system")
	expectCause(tick(g), CausePaused, "its folder covered by another file system, a tick later")
	expect(exists(home.Paused(box)), "the pause isn't in the file system that covers its folder")
	must(unix.Unmount(home.PausedFolder(), 0))
	expectCause(tick(g), CausePaused, "uncovered")
	must(Resume(home, box))
	expectCause(tick(g), CauseOpen, "resumed")

	sandbox := filepath.Dir(home.Stopped())
	mount(sandbox, "mode=700")
	expectCause(tick(g), CauseUnreadable, "the whole folder covered")
	must(unix.Unmount(sandbox, 0))
	expectCause(tick(g), CauseOpen, "the whole folder uncovered")
	must(Stop(home))
	expectCause(tick(g), CauseStopped, "stopped")
	err := Unstop(home)
	must(err)

	must(os.Mkdir(home.Stopped(), 0o700))
	mount(home.Stopped(), "mode=700")
	expectCause(tick(g), CauseStopped, "stopped by a mount point")
	expect(Unstop(home) != nil, "a mount point was removed")
	must(unix.Unmount(home.Stopped(), 0))
	must(Unstop(home))
	expectCause(tick(g), CauseOpen, "unstopped")
}
