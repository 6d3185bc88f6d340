package control

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"lnk/settings"

	"golang.org/x/sys/unix"
)

const (
	maxAtOnce  = 32              // commands that run at the same time
	maxOutput  = 2048            // bytes of a command's output that are kept: the last ones
	outputWait = 1 * time.Second // for output that a command's own children hold open
)

// OnStopResult is how one command went.
type OnStopResult struct {
	Name   settings.Name // empty where the failure isn't one registration's
	Err    error         // nil where the command ended with status 0 in time
	Output string        // the end of what it printed, without control characters other than line ends
}

// RunOnStop runs everything that is registered, side by side, each within its limit, and says how each went, by name. A
// command that fails, hangs or can't be read keeps no other from running. Call it after Stop, also where Stop failed.
// When ctx ends, so do the commands.
func RunOnStop(ctx context.Context, home settings.Home) []OnStopResult {
	all, results := registrations(home)
	ran := make([]OnStopResult, len(all))
	turns := make(chan struct{}, maxAtOnce)
	var wg sync.WaitGroup
	for i, o := range all {
		wg.Go(func() {
			turns <- struct{}{}
			ran[i] = o.run(ctx)
			<-turns
		})
	}
	wg.Wait()
	results = append(results, ran...)
	slices.SortStableFunc(results, func(a, b OnStopResult) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return results
}

// run runs the command in a process group of its own, so that what it started ends with it at the limit.
func (o OnStop) run(parent context.Context) OnStopResult {
	ctx, cancel := context.WithTimeout(parent, o.limit())
	defer cancel()
	var out tail
	cmd := exec.CommandContext(ctx, o.Command[0], o.Command[1:]...)
	cmd.Dir = o.Directory
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = outputWait
	err := cmd.Run()
	switch {
	case parent.Err() != nil:
		err = parent.Err()
	case ctx.Err() != nil && err != nil:
		err = fmt.Errorf("it took longer than %v", o.limit())
	case errors.Is(err, exec.ErrWaitDelay): // it ended well; what it left running still holds its output
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("running what %s registered: %w", o.Name, err)
	}
	return OnStopResult{Name: o.Name, Err: err, Output: out.text()}
}

// tail keeps the last bytes that are written to it. os/exec writes from one goroutine where stdout and stderr are the
// same.
type tail struct{ buf []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p[max(0, len(p)-maxOutput):]...)
	if extra := len(t.buf) - maxOutput; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

func (t *tail) text() string { return cleanLines(strings.TrimSpace(string(t.buf))) }
