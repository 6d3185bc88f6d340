package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lnk/control"
	"lnk/settings"
)

func (a *app) stop() *cobra.Command {
	var off bool
	cmd := a.command("stop [--off]", helpStop, 0, 0, func(cmd *cobra.Command, _ []string) error {
		home, err := a.homeToWrite()
		if err != nil {
			return err
		}
		if off {
			return a.unstop(home)
		}
		return a.stopAll(cmd.Context(), home)
	})
	cmd.Flags().BoolVar(&off, "off", false, "")
	return cmd
}

func (a *app) unstop(home settings.Home) error {
	before := control.Stopped(home)
	if err := control.Unstop(home); err != nil {
		return err
	}
	if before.Open() {
		a.printf("There was no stop: sandboxes that aren't paused may call, as before.\n")
		return nil
	}
	a.printf("The stop is off: sandboxes that aren't paused may call again.\n")
	return nil
}

// stopAll closes every wire first, and runs what asked to stop with it after that.
func (a *app) stopAll(ctx context.Context, home settings.Home) error {
	if err := control.Stop(home); err != nil {
		return err
	}
	a.printf("Stopped: every sandbox refuses every call, and what was open ends within a second.\nTo undo it: lnk sandbox stop --off\n")
	var failed []error
	for _, r := range control.RunOnStop(ctx, home) {
		if r.Err == nil {
			a.printf("%s: stopped too\n", r.Name)
			continue
		}
		failed = append(failed, onStopFailure(r))
	}
	a.warn(failed)
	return failedIf(failed)
}

// onStopFailure words what a command came to. The error's own first words say whose it was, which stands in front here.
func onStopFailure(r control.OnStopResult) error {
	err := r.Err
	if inner := errors.Unwrap(err); inner != nil && r.Name != "" {
		err = inner
	}
	if r.Name != "" {
		err = fmt.Errorf("on-stop %s: %w", r.Name, err)
	}
	if r.Output != "" {
		err = fmt.Errorf("%w: %s", err, r.Output)
	}
	return err
}
