package netns

import "fmt"

// RightError says that this machine doesn't let lnk make a room.
type RightError struct {
	Missing string // what is missing, in one sentence
	Hint    string // how to give it, if that is known
	Err     error  // what the kernel said
}

func (e *RightError) Error() string { return fmt.Sprintf("%s: %v", e.Missing, e.Err) }

// Unwrap returns what the kernel said.
func (e *RightError) Unwrap() error { return e.Err }

// ExecError says that the program could not be started. Status is what a shell would exit with: 127 where there is no
// such program, 126 where it can't be executed.
type ExecError struct {
	Status int
	Path   string
	Err    error
}

func (e *ExecError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns what exec said.
func (e *ExecError) Unwrap() error { return e.Err }
