package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lnk/integration/internet"
)

// What is stopped at once.
const (
	stopSandboxes = 50
	stopCalls     = 200
)

// held is a sandbox with open calls.
type held struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	said output
}

// stopping measures how long the last of many open calls outlives a stop.
func (b *bench) stopping(ctx context.Context) error {
	fmt.Printf("\nStopping %d sandboxes with %d open calls each\n", stopSandboxes, stopCalls)
	all := make([]*held, stopSandboxes)
	defer func() {
		for _, h := range all {
			if h != nil {
				h.cmd.Cancel()
				h.cmd.Wait()
			}
		}
	}()
	errs := make([]error, len(all))
	begun := time.Now()
	each(all, func(i int) { all[i], errs[i] = holdInSandbox(ctx, i) })
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("%w; the log's last refusal: %s", err, lastRefusal(ctx))
		}
	}
	took := time.Since(begun)
	start := time.Now()
	if err := stopNow(ctx); err != nil {
		return err
	}
	told := time.Since(start)
	ends := make([]float64, len(all))
	each(all, func(i int) {
		at, err := all[i].line()
		nanos, parsed := strconv.ParseInt(at, 10, 64)
		ends[i], errs[i] = time.Unix(0, nanos).Sub(start).Seconds(), errors.Join(err, parsed)
	})
	err := errors.Join(append(errs, machine.Command(ctx, internet.Root, "lnk", "sandbox", "stop", "--off").Run())...)
	if err != nil {
		return err
	}
	fmt.Printf("  all open after %.1f s; the command had stopped them after %.0f ms\n", took.Seconds(), told.Seconds()*1e3)
	printGoal("the last call ended after", fmt.Sprintf("%.2f s (median %.2f s)", slices.Max(ends), median(slices.Clone(ends))), "< 1 s")
	return nil
}

func each(all []*held, f func(i int)) {
	var running sync.WaitGroup
	for i := range all {
		running.Go(func() { f(i) })
	}
	running.Wait()
}

// holdInSandbox starts a sandbox and waits until its calls are open.
func holdInSandbox(ctx context.Context, i int) (*held, error) {
	p := inSandbox(fmt.Sprintf("stop-%d", i))
	h := &held{cmd: p.command(ctx, "last", p.target(portHold), strconv.Itoa(stopCalls))}
	h.cmd.Stderr = &h.said
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.out = bufio.NewReader(out)
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := h.line(); err != nil || line != "open" {
		return h, fmt.Errorf("opening the calls of a sandbox: %q %w", line, err)
	}
	return h, nil
}

// line is the next line that the client prints.
func (h *held) line() (string, error) {
	line, err := h.out.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("the client has ended: %s", h.said.String())
	}
	return strings.TrimSpace(line), nil
}

// lastRefusal is the line of the last refused call.
func lastRefusal(ctx context.Context) string {
	out, err := machine.Command(ctx, internet.Root, "lnk", "sandbox", "log", "-n", "1", "--outcome", "refused").CombinedOutput()
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}

func stopNow(ctx context.Context) error {
	if out, err := machine.Command(ctx, internet.Root, "lnk", "sandbox", "stop").CombinedOutput(); err != nil {
		return fmt.Errorf("stopping: %w: %s", err, out)
	}
	return nil
}
