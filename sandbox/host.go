package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"

	"lnk/netns"
	"lnk/policy"
)

// onHost makes this process the program, on the machine's own network: no room, no wire, no log, nothing to stop it by. It
// returns only what went wrong.
func (r *run) onHost() error {
	if r.launch != nil {
		if err := r.launch.Close(); err != nil {
			return fmt.Errorf("giving up the room: %w", err)
		}
	}
	path, err := lookPath(r.Argv[0])
	if err != nil {
		return err
	}
	if sig := r.signals.early(); sig != 0 {
		return errInterrupted{sig}
	}
	r.tell(Started{Mode: policy.ModeHost, Network: r.spec.Describe()})
	r.signals.stop()
	err = r.exec(path, r.Argv, EnvironmentHost(r.Env, r.caller))
	return &netns.ExecError{Status: execStatus(err), Path: path, Err: err}
}

func lookPath(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", &netns.ExecError{Status: execStatus(err), Path: program, Err: cause(err)}
	}
	return path, nil
}

// cause is what went wrong, without the path, which exec.Error repeats.
func cause(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// execStatus is a shell's for a program that can't be run: 127 where it isn't there, 126 otherwise.
func execStatus(err error) int {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return 127
	}
	return 126
}
