package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lnk/sandbox"
	"lnk/settings"
	"lnk/wirelog"
)

// carried is a running sandbox in traffic --json. The field names are stable.
type carried struct {
	Sandbox settings.Name `json:"sandbox"`
	PID     int           `json:"pid"`
	Out     int64         `json:"out"` // bytes out of the sandbox
	In      int64         `json:"in"`  // bytes into it
}

func (a *app) traffic() *cobra.Command {
	var asJSON, watch bool
	cmd := a.command("traffic [NAME] [--watch] [--json]", helpTraffic, 0, 1, func(cmd *cobra.Command, args []string) error {
		var only settings.Name
		if len(args) == 1 {
			name, err := settings.ParseName(args[0])
			if err != nil {
				return usage{err, "what runs: lnk sandbox list"}
			}
			only = name
		}
		home, err := a.home()
		if err != nil {
			return err
		}
		show := func() error { return a.showTraffic(home, only, asJSON) }
		if watch {
			return a.everySecond(cmd.Context(), show)
		}
		return show()
	})
	cmd.Flags().BoolVar(&watch, "watch", false, "")
	cmd.Flags().BoolVar(&asJSON, "json", false, "")
	cmd.ValidArgsFunction = a.completeNames(runningNames)
	return cmd
}

func (a *app) showTraffic(home settings.Home, only settings.Name, asJSON bool) error {
	records, errs := wirelog.ReadTraffic(home)
	rows := make([]carried, 0, len(records))
	for _, r := range records {
		if only == "" || r.Sandbox == only {
			rows = append(rows, carried{r.Sandbox, r.PID, r.Out, r.In})
		}
	}
	slices.SortFunc(rows, func(x, y carried) int { return strings.Compare(string(x.Sandbox), string(y.Sandbox)) })
	if only != "" && len(rows) == 0 && !isRunning(home, only) {
		a.say(fmt.Sprintf("lnk: no sandbox called %s is running", only))
		if !asJSON {
			a.warn(errs)
			return failedIf(errs)
		}
	}
	if err := a.trafficAs(rows, asJSON, len(runningNames(home)) > 0); err != nil {
		return err
	}
	a.warn(errs)
	return failedIf(errs)
}

// isRunning says whether a sandbox runs. One whose record can't be read counts: it isn't known to be gone.
func isRunning(home settings.Home, name settings.Name) bool {
	_, err := sandbox.Find(home, name)
	return !errors.Is(err, fs.ErrNotExist)
}

func (a *app) trafficAs(rows []carried, asJSON, running bool) error {
	switch {
	case asJSON:
		return a.json(rows)
	case !running && len(rows) == 0:
		a.printf("No sandbox is running.\n")
		return nil
	case len(rows) == 0:
		a.printf("Nothing has been carried yet.\n")
		return nil
	}
	t := a.table("NAME", "OUT", "IN", "PID")
	for _, r := range rows {
		t.row(string(r.Sandbox), size(r.Out), size(r.In), number(r.PID))
	}
	return t.flush()
}

// everySecond shows something again and again until ^C; on a terminal, in the same place.
func (a *app) everySecond(ctx context.Context, show func() error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if isTerminal(a.out) {
			a.printf("\x1b[H\x1b[2J") // home, and clear (ECMA-48)
		}
		if err := show(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
