package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"lnk/netns"
	"lnk/sandbox"
)

// exit is a status to exit with and nothing to say.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usage is a command line that can't be understood.
type usage struct {
	err  error
	hint string
}

func (u usage) Error() string { return u.err.Error() }
func (u usage) Unwrap() error { return u.err }

func badUsage(cmd *cobra.Command, format string, args ...any) error {
	return usage{fmt.Errorf(format, args...), "see: " + cmd.CommandPath() + " --help"}
}

// hinted is an error with what to do about it.
type hinted struct {
	err  error
	hint string
}

func (h hinted) Error() string { return h.err.Error() }
func (h hinted) Unwrap() error { return h.err }

// Statuses to exit with.
const (
	statusFailed = 1   // the command couldn't do it, or its answer is no
	statusUsage  = 2   // it wasn't asked properly
	statusOwn    = 125 // sandbox run: lnk itself failed and no program ran (as env, nohup and container runtimes have it)
)

// statusOf is the status of an error that cmd ended with. Under sandbox run every failure of lnk's own is 125, a bad
// command line too, so that the program's own statuses can be told from it. Under sandbox why 1 is an answer, and no error is.
func statusOf(err error, cmd *cobra.Command) int {
	var exec *netns.ExecError
	if errors.As(err, &exec) {
		return exec.Status
	}
	if cmd != nil && cmd.CommandPath() == "lnk sandbox run" {
		return statusOwn
	}
	if cmd != nil && cmd.CommandPath() == "lnk sandbox why" {
		return statusUsage
	}
	var bad usage
	if errors.As(err, &bad) {
		return statusUsage
	}
	return statusFailed
}

// explain words an error, and says what to do about it where that is known.
func (a *app) explain(err error) (text, hint string) {
	var bad usage
	var more hinted
	var taken *sandbox.TakenError
	var right *netns.RightError
	var exec *netns.ExecError
	switch {
	case errors.As(err, &bad):
		hint = bad.hint
	case errors.As(err, &more):
		hint = more.hint
	case errors.As(err, &taken):
		hint = "choose another name with -n, or leave it out; what runs: lnk sandbox list"
	case errors.As(err, &right):
		hint = right.Hint
	case errors.As(err, &exec):
		return a.explainExec(exec)
	case errors.Is(err, unix.ENOSPC):
		hint = "the disk is full: nothing was run"
	case errors.Is(err, unix.EROFS):
		hint = "inside a sandbox the settings are covered, and another one can't be started"
	case errors.Is(err, fs.ErrPermission):
		hint = "the settings are ~/.lnk, or the folder that LNK_HOME names; they must be yours"
	}
	return err.Error(), hint
}
