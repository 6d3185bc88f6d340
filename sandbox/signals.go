package sandbox

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Signals that are passed on to the program. The stops and the continue are the kernel's: the program is in lnk's
// process group.
var forwarded = []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGINT, unix.SIGQUIT, unix.SIGWINCH}

// fromTerminal are those that the kernel sends to the whole process group that has the terminal.
func fromTerminal(s unix.Signal) bool {
	return s == unix.SIGINT || s == unix.SIGQUIT || s == unix.SIGWINCH
}

// signals takes what is sent to this process, from its making until stop.
type signals struct {
	terminal terminal
	arrived  chan os.Signal
	pipe     chan os.Signal
}

// catch starts taking signals. One that was ignored when the process began (nohup, a shell's background job) stays so, and the program
// inherits that. SIGPIPE is taken and dropped: a closed stderr must not end the wire; ignored, the program would inherit it.
func catch() *signals {
	s := &signals{terminal: openTerminal(), arrived: make(chan os.Signal, 16), pipe: make(chan os.Signal, 1)}
	for _, sig := range forwarded {
		if !signal.Ignored(sig) {
			signal.Notify(s.arrived, sig)
		}
	}
	signal.Notify(s.pipe, unix.SIGPIPE)
	return s
}

// early gives a signal that asks this process to end and came before there was a program to pass it to; 0 where none did.
func (s *signals) early() unix.Signal {
	for {
		select {
		case sig := <-s.arrived:
			if n := sig.(unix.Signal); n != unix.SIGWINCH {
				return n
			}
		default:
			return 0
		}
	}
}

// forward passes signals on until stopped is closed. send's error is the program's being gone already.
func (s *signals) forward(stopped <-chan struct{}, send func(unix.Signal) error) {
	for {
		select {
		case sig := <-s.arrived:
			n := sig.(unix.Signal)
			if fromTerminal(n) && s.terminal.foreground() {
				continue
			}
			_ = send(n)
		case <-stopped:
			return
		}
	}
}

// stop gives the signals back their default effect, but for SIGPIPE (what is left to say may meet a closed stderr), and
// lets go of the terminal.
func (s *signals) stop() {
	signal.Stop(s.arrived)
	s.terminal.close()
}
