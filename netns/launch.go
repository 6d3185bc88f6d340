package netns

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

var errUnwritten = errors.New("not written yet")

// Init takes over if this process is a room's init, and then never returns. It is the first line of main.
func Init() {}

// Launch is the launcher's end of a room.
type Launch struct{}

// Start clones init in its new namespaces and waits for its hello. An error that is a *RightError names what this
// machine lacks.
func Start(o Options) (*Launch, error) { return nil, errUnwritten }

// Become makes the launcher, all its threads, that user for good, without any capability. It does nothing where the
// launcher is that user.
func (l *Launch) Become(id Identity) error { return errUnwritten }

// Build makes the room. After an error there is none, and the launch is closed.
func (l *Launch) Build(p Plan) (*Room, error) { return nil, errUnwritten }

// Go starts the program and returns once it runs. An error that is an *ExecError says that it couldn't be executed.
func (l *Launch) Go() error { return errUnwritten }

// Dial makes a TCP connection inside the room, to a literal address. Its errors are *net.OpError with the errno.
func (l *Launch) Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	return nil, errUnwritten
}

// Signal sends the program a signal.
func (l *Launch) Signal(sig unix.Signal) error { return errUnwritten }

// PID is init's pid, as the machine sees it.
func (l *Launch) PID() int { return 0 }

// Status is how the program ended: with an exit status or, where Signal isn't 0, by a signal.
type Status struct {
	Code   int
	Signal unix.Signal
}

// Wait returns how the program ended, once nothing of the room is left.
func (l *Launch) Wait() (Status, error) { return Status{}, errUnwritten }

// Close ends everything in the room and waits until it has. It may be called at any time and more than once.
func (l *Launch) Close() error { return errUnwritten }
