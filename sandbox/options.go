package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"lnk/netns"
	"lnk/settings"
	"lnk/spec"
)

// Options are what a run is made of. Argv is needed; the rest may be zero.
type Options struct {
	Name     settings.Name // empty: it is called after its program
	Argv     []string      // the program and its arguments
	SpecFile string        // empty: the settings' spec of that name, where there is one
	Flags    spec.Flags
	User     string // as whom; empty: the caller. Only root may name another
	Env      []string
	Stdin    *os.File // nil: this process's own, as the next two
	Stdout   *os.File
	Stderr   *os.File
	Tell     func(Event) // nil: told to nobody

	start func(netns.Options) (launch, error)         // nil: netns.Start
	who   *Asking                                     // nil: this process
	exec  func(path string, argv, env []string) error // nil: exec(2)
}

// launch is the room's process, as package netns makes it.
type launch interface {
	Become(netns.Identity) error
	Build(netns.Plan) (*netns.Room, error)
	Go() error
	Signal(unix.Signal) error
	Wait() (netns.Status, error)
	Close() error
}

var _ launch = (*netns.Launch)(nil)

// startRoom clones a room's init.
func startRoom(o netns.Options) (launch, error) {
	l, err := netns.Start(o)
	if err != nil {
		return nil, err // not a launch that holds nothing
	}
	return l, nil
}

func (o Options) filled() (Options, error) {
	if len(o.Argv) == 0 || o.Argv[0] == "" {
		return o, errors.New("running a sandbox: no program is named")
	}
	if o.Name != "" {
		if _, err := settings.ParseName(string(o.Name)); err != nil {
			return o, fmt.Errorf("running a sandbox: %w", err)
		}
	}
	fill(&o.Stdin, os.Stdin)
	fill(&o.Stdout, os.Stdout)
	fill(&o.Stderr, os.Stderr)
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Tell == nil {
		o.Tell = func(Event) {}
	}
	if o.start == nil {
		o.start = startRoom
	}
	if o.exec == nil {
		o.exec = unix.Exec
	}
	if o.who == nil {
		here := ThisProcess(o.User)
		o.who = &here
	}
	return o, nil
}

func fill(f **os.File, with *os.File) {
	if *f == nil {
		*f = with
	}
}

// errInterrupted ends a run that a signal ended before its program ran.
type errInterrupted struct{ signal unix.Signal }

func (e errInterrupted) Error() string {
	return "ended by a signal before the program ran: " + e.signal.String()
}
