package sandbox

import (
	"errors"
	"os/user"
	"slices"
	"strings"
	"testing"
)

func asking(change func(*Asking)) Asking {
	env := map[string]string{"HOME": "/root"}
	users := map[string]*user.User{
		"0":    {Uid: "0", Gid: "0", Username: "root", HomeDir: "/root"},
		"1000": {Uid: "1000", Gid: "1000", Username: "ada", HomeDir: "/home/ada"},
		"1001": {Uid: "1001", Gid: "1001", Username: "ben", HomeDir: "/home/ben"},
	}
	a := Asking{
		Getenv: func(k string) string { return env[k] }, RUID: 0, EUID: 0, GID: 0, Groups: []int{0},
		ByID: func(id string) (*user.User, error) {
			if u, ok := users[id]; ok {
				copied := *u
				return &copied, nil
			}
			return nil, errors.New("unknown")
		},
		ByName: func(name string) (*user.User, error) {
			for _, u := range users {
				if u.Username == name {
					copied := *u
					return &copied, nil
				}
			}
			return nil, errors.New("unknown")
		},
		GroupsO: func(u *user.User) ([]string, error) { return []string{u.Gid, "27", "100"}, nil },
		ShellOf: func(int) string { return "/bin/zsh" },
	}
	change(&a)
	return a
}

func environ(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestWho(t *testing.T) {
	tests := map[string]struct {
		asking func(*Asking)
		want   Caller
		err    string
	}{
		"root by itself stays root, with the home it has": {
			func(a *Asking) {}, Caller{Login: "root", Home: "/root", Groups: []int{0}}, ""},
		"under sudo it is the user who called, with all their groups": {
			func(a *Asking) { a.Getenv = environ("SUDO_UID", "1000", "SUDO_GID", "1000", "HOME", "/root") },
			Caller{UID: 1000, GID: 1000, Groups: []int{1000, 27, 100}, Login: "ada", Home: "/home/ada", Shell: "/bin/zsh", Other: true}, ""},
		"under sudo by root it is root": {
			func(a *Asking) { a.Getenv = environ("SUDO_UID", "0", "SUDO_GID", "0", "HOME", "/root") },
			Caller{Login: "root", Home: "/root", Groups: []int{0}}, ""},
		"a sudo caller whom the user file doesn't know has the home that sudo tells": {
			func(a *Asking) {
				a.Getenv = environ("SUDO_UID", "70000", "SUDO_GID", "70001", "SUDO_USER", "eve", "SUDO_HOME", "/net/eve")
			},
			Caller{UID: 70000, GID: 70001, Groups: []int{70001, 27, 100}, Login: "eve", Home: "/net/eve", Shell: "/bin/zsh", Other: true}, ""},
		"what sudo left behind means nothing to a process that isn't root": {
			func(a *Asking) {
				a.RUID, a.EUID, a.GID, a.Groups = 1001, 1001, 1001, nil
				a.Getenv = environ("SUDO_UID", "1000", "HOME", "/home/ben")
			}, Caller{UID: 1001, GID: 1001, Login: "ben", Home: "/home/ben"}, ""},
		"a sudo id that is no number is an error": {
			func(a *Asking) { a.Getenv = environ("SUDO_UID", "-1") }, Caller{}, `"-1" is no user id`},
		"the id that means no change is no user": {
			func(a *Asking) { a.Getenv = environ("SUDO_UID", "4294967295", "SUDO_GID", "1") }, Caller{}, "is no user id"},
		"a sudo group that is no number is an error": {
			func(a *Asking) { a.Getenv = environ("SUDO_UID", "1000", "SUDO_GID", "staff") }, Caller{}, `"staff" is no group id`},
		"root may name another user": {
			func(a *Asking) { a.User = "ben" },
			Caller{UID: 1001, GID: 1001, Groups: []int{1001, 27, 100}, Login: "ben", Home: "/home/ben", Shell: "/bin/zsh", Other: true}, ""},
		"and by number": {
			func(a *Asking) { a.User = "1001" },
			Caller{UID: 1001, GID: 1001, Groups: []int{1001, 27, 100}, Login: "ben", Home: "/home/ben", Shell: "/bin/zsh", Other: true}, ""},
		"a named user wins over sudo's": {
			func(a *Asking) { a.User = "ben"; a.Getenv = environ("SUDO_UID", "1000") },
			Caller{UID: 1001, GID: 1001, Groups: []int{1001, 27, 100}, Login: "ben", Home: "/home/ben", Shell: "/bin/zsh", Other: true}, ""},
		"a user who isn't there is an error": {
			func(a *Asking) { a.User = "zed" }, Caller{}, `"zed": no such user`},
		"nobody else may name another user": {
			func(a *Asking) { a.RUID, a.EUID, a.User = 1001, 1001, "ada" }, Caller{}, "only root may name another"},
		"but may name themselves": {
			func(a *Asking) { a.RUID, a.EUID, a.GID, a.User = 1001, 1001, 1001, "ben"; a.Groups = nil },
			Caller{UID: 1001, GID: 1001, Login: "ben", Home: "/root"}, ""},
		"a set-user-id program is an error": {
			func(a *Asking) { a.RUID = 1001 }, Caller{}, "set-user-id"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Who(asking(tt.asking))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Groups, tt.want.Groups) {
				t.Errorf("groups %v, want %v", got.Groups, tt.want.Groups)
			}
			got.Groups, tt.want.Groups = nil, nil
			if got.UID != tt.want.UID || got.GID != tt.want.GID || got.Login != tt.want.Login || got.Home != tt.want.Home ||
				got.Shell != tt.want.Shell || got.Other != tt.want.Other {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}
