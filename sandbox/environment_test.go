package sandbox

import (
	"slices"
	"testing"
)

func TestEnvironment(t *testing.T) {
	quiet := []string{"AWS_EC2_METADATA_DISABLED=true", "NO_GCE_CHECK=true", "METADATA_SERVER_DETECTION=none"}
	ben := Caller{Login: "ben", Home: "/home/ben", Shell: "/bin/zsh", Other: true}
	tests := map[string]struct {
		caller Caller
		in     []string
		want   []string
	}{
		"what has nothing to do with a network stays as it is, in its order": {
			Caller{}, []string{"B=2", "A=1", "PATH=/bin", "EMPTY="}, append([]string{"B=2", "A=1", "PATH=/bin", "EMPTY="}, quiet...)},
		"proxy variables go, in either case": {
			Caller{}, []string{"http_proxy=x", "HTTPS_PROXY=x", "All_Proxy=x", "no_proxy=x", "FTP_PROXY=x", "RSYNC_PROXY=x"},
			append([]string{"RSYNC_PROXY=x"}, quiet...)},
		"doors to helpers outside go": {
			Caller{}, []string{"DBUS_SESSION_BUS_ADDRESS=x", "SSH_AUTH_SOCK=x", "GPG_AGENT_INFO=x", "SSH_TTY=x"},
			append([]string{"SSH_TTY=x"}, quiet...)},
		"sudo's and lnk's own go": {
			Caller{}, []string{"SUDO_UID=1", "SUDO_COMMAND=x", "LNK_HOME=/x", "SUDOKU=1"}, append([]string{"SUDOKU=1"}, quiet...)},
		"what the caller set about metadata stays": {
			Caller{}, []string{"NO_GCE_CHECK=false", "AWS_EC2_METADATA_DISABLED="},
			[]string{"NO_GCE_CHECK=false", "AWS_EC2_METADATA_DISABLED=", "METADATA_SERVER_DETECTION=none"}},
		"another user's environment names that user": {
			ben, []string{"HOME=/root", "USER=root", "LOGNAME=root", "MAIL=/var/mail/root", "SHELL=/bin/bash", "TERM=xterm"},
			append([]string{"TERM=xterm", "HOME=/home/ben", "USER=ben", "LOGNAME=ben", "SHELL=/bin/zsh"}, quiet...)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tt.in)
			if got := Environment(tt.in, tt.caller); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if !slices.Equal(before, tt.in) {
				t.Error("the caller's own environment was changed")
			}
		})
	}
}

func TestEnvironmentHost(t *testing.T) {
	in := []string{"HTTPS_PROXY=x", "SSH_AUTH_SOCK=x", "SUDO_UID=1", "LNK_HOME=/x", "HOME=/root"}
	want := []string{"HTTPS_PROXY=x", "SSH_AUTH_SOCK=x", "HOME=/home/ben", "USER=ben", "LOGNAME=ben"}
	if got := EnvironmentHost(in, Caller{Login: "ben", Home: "/home/ben", Other: true}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
