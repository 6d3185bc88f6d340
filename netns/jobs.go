package netns

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Job control. The program is in the launcher's process group, so the terminal's signals reach it as they would without
// lnk. The shell, though, waits for the launcher: if that stopped by itself, the shell would take the terminal back while
// the program still reads from it, or cleans its screen. So the launcher ignores the signals that stop a group, waits until
// init says that the program has stopped, for whatever reason, and then stops as it did.

// stopSignals stop the members of a process group, by the terminal's doing.
var stopSignals = [...]unix.Signal{unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU}

// stops is what the launcher did at these signals before.
type stops [len(stopSignals)]action

func ignoreStops() (was stops) {
	for i, s := range stopSignals {
		was[i] = setAction(s, ignored)
	}
	return was
}

func (was stops) restore() {
	for i, s := range stopSignals {
		setAction(s, was[i])
	}
}

// stopped hears that the program has stopped, and asks whether it still does: in the meantime someone may have continued
// the whole group, the launcher with it, and nobody would continue it again.
func (l *Launch) stopped(m message) {
	var body stoppedBody
	if m.into(&body) == nil {
		l.asked++
		body.Question = l.asked
		l.ch.send(kindStop, body)
	}
}

// stands stops the launcher as the program was. The shell continues both, being of one group. What was asked before that
// is answered for good: the answer is of before, too.
func (l *Launch) stands(m message) {
	var body stoppedBody
	if m.into(&body) == nil && body.Question > l.settled {
		stopAs(body.Signal)
		l.settled = l.asked
	}
}

// stopAs returns when this process is continued. The signal goes to the calling thread, which acts on it before it returns
// from the system call; sent to the process it could come after the signal is ignored again.
func stopAs(s unix.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if s != unix.SIGSTOP {
		defer setAction(s, setAction(s, byDefault))
	}
	unix.Tgkill(unix.Getpid(), unix.Gettid(), s)
}
