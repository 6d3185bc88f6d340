package netns

import (
	"errors"

	"golang.org/x/sys/unix"
)

// The bodies of the messages. Whatever comes from the system (paths, arguments, the environment) is octets, not
// necessarily UTF-8, and goes as []byte: JSON would change a string.

// use says what a socket of the room is for.
type use string

const (
	useWire   use = "wire"
	useDNSUDP use = "dns-udp"
	useDNSTCP use = "dns-tcp"
	usePort   use = "port"
)

type buildBody struct {
	Ports []uint16 `json:",omitempty"`
}

// socketBody is what a descriptor is; they come in the same order.
type socketBody struct {
	Use  use
	Port uint16 `json:",omitempty"` // of usePort
}

type socketsBody struct {
	Sockets []socketBody
	IPv6    bool
}

type goBody struct {
	Files        []fileBody
	Cover, Pin   [][]byte
	User         Identity
	UserNS       bool // User is who init already is, and the only one there is
	Capabilities Capabilities
	Extra        int    // descriptors for the program
	FreePorts    string // the machine's net.ipv4.ip_unprivileged_port_start
}

type fileBody struct {
	Path     []byte
	Size     int
	Optional bool   // nothing at Path: leave it so
	Data     []byte `json:"-"` // goes beside the message, Size octets of it
}

type runBody struct {
	OwnGroup     bool // the program gets a process group of its own
	Argv, Env    [][]byte
	Dir          []byte
	Stdio        [3]bool // which of 0, 1 and 2 are open
	Extra        int
	Capabilities Capabilities
}

type dialBody struct {
	ID uint64
	To string
}

type cancelBody struct{ ID uint64 }

type dialedBody struct {
	ID    uint64
	Errno unix.Errno `json:",omitempty"` // of connect; 0 with a descriptor
}

type signalBody struct{ Signal unix.Signal }

type stoppedBody struct {
	Signal   unix.Signal
	Question uint64 `json:",omitempty"` // of stop and stands
}

type endedBody struct {
	Code   int
	Signal unix.Signal `json:",omitempty"`
}

// failure is an error on its way from init to the launcher: its text, its errno, and what kind it was.
type failure struct {
	Text          string
	Errno         unix.Errno `json:",omitempty"`
	Missing, Hint string     `json:",omitempty"` // of a RightError
	Status        int        `json:",omitempty"` // of an ExecError
	Path          []byte     `json:",omitempty"`
}

func failureOf(err error) failure {
	f := failure{Text: err.Error()}
	errors.As(err, &f.Errno)
	if right := (*RightError)(nil); errors.As(err, &right) {
		f.Missing, f.Hint, f.Text = right.Missing, right.Hint, right.Err.Error()
	}
	if exec := (*ExecError)(nil); errors.As(err, &exec) {
		f.Status, f.Path, f.Text = exec.Status, []byte(exec.Path), exec.Err.Error()
	}
	return f
}

func (f failure) err() error {
	var err error = &roomError{f.Text, f.Errno}
	if f.Missing != "" {
		return &RightError{f.Missing, f.Hint, err}
	}
	if f.Status != 0 {
		return &ExecError{f.Status, string(f.Path), err}
	}
	return err
}

// roomError is an error of init's: it still is the errno that it was there.
type roomError struct {
	text  string
	errno unix.Errno
}

func (e *roomError) Error() string { return e.text }

func (e *roomError) Unwrap() error {
	if e.errno == 0 {
		return nil
	}
	return e.errno
}

func octets(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func texts(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}
