package netns

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Launch is the launcher's end of a room.
type Launch struct {
	ch     *channel
	pid    int // init's
	pidfd  int // -1 once init is reaped; under mu
	userNS bool
	stdio  [3]bool
	extra  int

	plan     *Plan // what Go is to start; set by Build
	running  bool
	terminal terminal
	stops    stops
	asked    uint64 // questions about a stop; the reader's
	settled  uint64 // the last of them that no longer matters
	finished sync.Once

	gone     chan struct{} // closed when init is reaped
	wait     unix.WaitStatus
	unread   chan struct{} // closed when the reader is done
	answered chan struct{} // holds one when answers has grown

	mu      sync.Mutex
	answers []message // of the handshake
	ended   *Status
	dials   map[uint64]chan dialed
	lastID  uint64
}

func newLaunch(ch *channel, o Options) *Launch {
	return &Launch{
		ch: ch, pidfd: -1, userNS: o.Rootless || os.Geteuid() != 0,
		stdio: [3]bool{o.Stdin != nil, o.Stdout != nil, o.Stderr != nil}, extra: len(o.Extra),
		gone: make(chan struct{}), unread: make(chan struct{}), answered: make(chan struct{}, 1),
		dials: map[uint64]chan dialed{},
	}
}

// PID is init's pid, as the machine sees it.
func (l *Launch) PID() int { return l.pid }

// reap waits for init, on the thread that cloned it.
func (l *Launch) reap() {
	for {
		if _, err := unix.Wait4(l.pid, &l.wait, 0, nil); err != unix.EINTR {
			break
		}
	}
	l.mu.Lock()
	if l.pidfd >= 0 {
		unix.Close(l.pidfd)
	}
	l.pidfd = -1
	l.mu.Unlock()
	close(l.gone)
}

// read takes in init's messages until its end of the socket closes.
func (l *Launch) read() {
	defer close(l.unread)
	defer l.endDials()
	for {
		m, err := l.ch.receive()
		if err != nil {
			return
		}
		switch m.kind {
		case kindDialed:
			l.dialed(m)
		case kindStopped:
			l.stopped(m)
		case kindStands:
			l.stands(m)
		case kindEnded:
			var body endedBody
			if m.into(&body) == nil {
				l.mu.Lock()
				l.ended = &Status{body.Code, body.Signal}
				l.mu.Unlock()
			}
		default:
			l.deliver(m)
		}
	}
}

// deliver keeps a message of the handshake for whoever asks for it. It never waits: what init said before it ended is to be
// heard, and the end as well.
func (l *Launch) deliver(m message) {
	l.mu.Lock()
	l.answers = append(l.answers, m)
	l.mu.Unlock()
	select {
	case l.answered <- struct{}{}:
	default:
	}
}

// take returns the oldest message that was kept.
func (l *Launch) take() (message, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.answers) == 0 {
		return message{}, false
	}
	m := l.answers[0]
	l.answers = l.answers[1:]
	return m, true
}

// answer waits for a message of one of the kinds. Anything else is an error: init's own, or that it is gone.
func (l *Launch) answer(want ...kind) (message, error) {
	for ended := false; ; {
		if m, ok := l.take(); ok {
			return l.expect(m, want)
		}
		if ended {
			break
		}
		select {
		case <-l.answered:
		case <-l.unread:
			ended = true
		}
	}
	<-l.gone
	return message{}, fmt.Errorf("waiting for the room's init to say %q: it ended (%s)", want[0], describe(l.wait))
}

func (l *Launch) expect(m message, want []kind) (message, error) {
	if slices.Contains(want, m.kind) {
		return m, nil
	}
	if m.kind != kindFailed {
		m.discard()
		return message{}, fmt.Errorf("waiting for the room's init to say %q: it said %q", want[0], m.kind)
	}
	var f failure
	if err := m.into(&f); err != nil {
		return message{}, err
	}
	return message{}, f.err()
}

// Close ends everything in the room and waits until it has. It may be called at any time and more than once. The kernel
// kills all that is in a pid namespace when its init ends.
func (l *Launch) Close() error {
	l.ch.close() // init ends when its socket does, whatever it is at
	l.mu.Lock()
	if l.pidfd >= 0 {
		// It may be stopped. Not allowed while init is still root and the launcher no longer: then the socket has to do.
		unix.PidfdSendSignal(l.pidfd, unix.SIGKILL, nil, 0)
	}
	l.mu.Unlock()
	<-l.gone
	<-l.unread
	for m, ok := l.take(); ok; m, ok = l.take() {
		m.discard()
	}
	l.finish()
	return nil
}

// Wait returns how the program ended, once nothing of the room is left.
func (l *Launch) Wait() (Status, error) {
	<-l.gone
	<-l.unread
	l.finish()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		return Status{}, fmt.Errorf("waiting for the program: the room's init ended first (%s)", describe(l.wait))
	}
	return *l.ended, nil
}

// finish leaves the terminal and its signals as they were before the program ran.
func (l *Launch) finish() {
	l.finished.Do(func() {
		if l.running {
			l.terminal.giveBack()
			l.stops.restore()
		}
	})
}

// Signal sends the program a signal.
func (l *Launch) Signal(sig unix.Signal) error {
	select {
	case <-l.unread:
		return os.ErrProcessDone
	default:
	}
	if err := l.ch.send(kindSignal, signalBody{sig}); err != nil {
		if errors.Is(err, unix.EPIPE) || errors.Is(err, os.ErrClosed) {
			return os.ErrProcessDone
		}
		return err
	}
	return nil
}

// Status is how the program ended: with an exit status or, where Signal isn't 0, by a signal.
type Status struct {
	Code   int
	Signal unix.Signal
}

func describe(s unix.WaitStatus) string {
	if s.Signaled() {
		return "signal: " + s.Signal().String()
	}
	return fmt.Sprintf("exit status %d", s.ExitStatus())
}
