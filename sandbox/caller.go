package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"syscall"

	"lnk/settings"
)

// Caller is the user whose program, proxy and settings a command is about.
type Caller struct {
	UID, GID int
	Groups   []int  // supplementary groups
	Login    string // may be empty for a user the machine's database doesn't know
	Home     string // the user's home folder; may be empty
	Shell    string // set only where Other
	Other    bool   // not the user that the process runs as: it was started by sudo, or --user names one
}

// Asking is what tells who the caller is.
type Asking struct {
	User    string                             // --user: a login name or a number; empty: whoever called
	Getenv  func(string) string                // the process's environment
	RUID    int                                // its real user
	EUID    int                                // its effective user
	GID     int                                // its group
	Groups  []int                              // its supplementary groups
	ByName  func(string) (*user.User, error)   // the machine's users, by login name
	ByID    func(string) (*user.User, error)   // and by number
	GroupsO func(*user.User) ([]string, error) // and the groups they are in
	ShellOf func(uid int) string               // and the shell they log in with; empty where unknown
}

// ThisProcess is what the running process tells about its caller.
func ThisProcess(userFlag string) Asking {
	groups, _ := os.Getgroups() // only the caller's own are meant, and a user without any is the narrower reading
	return Asking{
		User: userFlag, Getenv: os.Getenv, RUID: os.Getuid(), EUID: os.Geteuid(), GID: os.Getgid(), Groups: groups,
		ByName: user.Lookup, ByID: user.LookupId, GroupsO: (*user.User).GroupIds, ShellOf: loginShell,
	}
}

// Who says who the caller is: the user that --user names (root alone may), the user who called sudo, or the process's own.
func Who(a Asking) (Caller, error) {
	if a.RUID != a.EUID {
		return Caller{}, errors.New("the program is installed set-user-id, which it isn't made for")
	}
	if a.EUID != 0 {
		return a.plain()
	}
	if a.User != "" {
		return a.named()
	}
	if id := a.Getenv("SUDO_UID"); id != "" && id != "0" {
		return a.sudo(id, a.Getenv("SUDO_GID"))
	}
	return a.self(), nil
}

func (a Asking) self() Caller {
	c := Caller{UID: a.EUID, GID: a.GID, Groups: a.Groups, Home: a.Getenv("HOME")}
	if u, err := a.ByID(strconv.Itoa(a.EUID)); err == nil {
		c.Login = u.Username
		if c.Home == "" {
			c.Home = u.HomeDir
		}
	}
	return c
}

func (a Asking) plain() (Caller, error) {
	c := a.self()
	if a.User != "" && a.User != c.Login && a.User != strconv.Itoa(c.UID) {
		return Caller{}, fmt.Errorf("running as user %q: only root may name another user", a.User)
	}
	return c, nil
}

func (a Asking) named() (Caller, error) {
	u, err := a.ByName(a.User)
	if err != nil {
		if u, err = a.ByID(a.User); err != nil {
			return Caller{}, fmt.Errorf("running as user %q: no such user here", a.User)
		}
	}
	c, err := a.fromDatabase(u)
	if err != nil {
		return Caller{}, err
	}
	if c.UID == a.EUID {
		return a.self(), nil
	}
	return c, nil
}

// sudo takes the caller from what sudo left behind. A user whom the machine's files don't know (a directory service's)
// still is one: sudo 1.9.16 and later says where such a user's home is.
func (a Asking) sudo(uid, gid string) (Caller, error) {
	u, err := a.ByID(uid)
	if err != nil {
		u = &user.User{Uid: uid, Gid: gid, Username: a.Getenv("SUDO_USER"), HomeDir: a.Getenv("SUDO_HOME")}
	}
	if gid != "" {
		u.Gid = gid
	}
	return a.fromDatabase(u)
}

func (a Asking) fromDatabase(u *user.User) (Caller, error) {
	uid, err := number("user", u.Uid)
	if err != nil {
		return Caller{}, err
	}
	gid, err := number("group", u.Gid)
	if err != nil {
		return Caller{}, err
	}
	c := Caller{UID: uid, GID: gid, Groups: []int{gid}, Login: u.Username, Home: u.HomeDir, Shell: a.ShellOf(uid), Other: true}
	ids, err := a.GroupsO(u)
	if err != nil {
		return c, nil // the user's one group is the narrower reading
	}
	for _, id := range ids {
		if n, err := number("group", id); err == nil && !slices.Contains(c.Groups, n) {
			c.Groups = append(c.Groups, n)
		}
	}
	return c, nil
}

// number reads a user's or a group's id. The largest is the kernel's "leave as it is" and no id.
func number(what, s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 1<<32-1 {
		return 0, fmt.Errorf("reading the caller: %q is no %s id", s, what)
	}
	return int(n), nil
}

// Become makes the process that user, for good: every thread, all three ids, the groups. A no-op for the user it is.
func (c Caller) Become() error {
	if !c.Other {
		return nil
	}
	if err := syscall.Setgroups(c.Groups); err != nil {
		return fmt.Errorf("becoming user %d: its groups: %w", c.UID, err)
	}
	if err := syscall.Setresgid(c.GID, c.GID, c.GID); err != nil {
		return fmt.Errorf("becoming user %d: its group: %w", c.UID, err)
	}
	if err := syscall.Setresuid(c.UID, c.UID, c.UID); err != nil {
		return fmt.Errorf("becoming user %d: %w", c.UID, err)
	}
	if c.UID != 0 && syscall.Setuid(0) == nil {
		return fmt.Errorf("becoming user %d: it could become root again", c.UID)
	}
	return nil
}

// Settings is the caller's settings folder: lnkHome (the value of $LNK_HOME) where it is set, or ~/.lnk. It reads
// nothing.
func (c Caller) Settings(lnkHome string) (settings.Home, error) {
	return settings.Locate(lnkHome, c.Home)
}
