package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lnk/control"
	"lnk/settings"
)

func (a *app) onStop() *cobra.Command {
	group := a.group("on-stop", helpOnStop)
	group.AddCommand(a.onStopAdd(), a.onStopRemove(), a.onStopList())
	return group
}

func (a *app) onStopAdd() *cobra.Command {
	var o control.OnStop
	var limit time.Duration
	cmd := a.command("add NAME [FLAGS] [--] COMMAND [ARGUMENT…]", helpOnStop, 2, -1, func(cmd *cobra.Command, args []string) (err error) {
		if o.Name, err = settings.ParseName(args[0]); err != nil {
			return usage{err, "see: lnk sandbox on-stop --help"}
		}
		if limit < time.Second {
			return badUsage(cmd, "--limit %s: a second is the least", limit)
		}
		if o.Directory != "" && !filepath.IsAbs(o.Directory) {
			return badUsage(cmd, "--in %q: it is not an absolute path", o.Directory)
		}
		o.Seconds = int(limit.Round(time.Second) / time.Second)
		home, err := a.homeToWrite()
		if err != nil {
			return err
		}
		if o.Command, err = resolved(args[1:]); err != nil {
			return err
		}
		before := onStopOf(home, o.Name)
		if err := control.AddOnStop(home, o); err != nil {
			return err
		}
		a.printf("%s runs with every stop: %s\n", o.Name, commandText(o.Command))
		if before != nil {
			a.printf("in place of: %s\n", commandText(before))
		}
		return nil
	})
	cmd.Flags().StringVar(&o.Directory, "in", "", "")
	cmd.Flags().DurationVar(&limit, "limit", control.DefaultStopLimit, "")
	return cmd
}

// onStopOf is the command that is registered under a name; nil where there is none that can be read.
func onStopOf(home settings.Home, name settings.Name) []string {
	all, _ := control.ListOnStop(home)
	for _, o := range all {
		if o.Name == name {
			return o.Command
		}
	}
	return nil
}

func commandText(command []string) string { return oneLine(strings.Join(command, " ")) }

// resolved is a command with its program's own path: what runs at a stop has another PATH and another folder.
func resolved(command []string) ([]string, error) {
	path, err := exec.LookPath(command[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, fmt.Errorf("what is to run with a stop: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("what is to run with a stop: %w", err)
	}
	return append([]string{path}, command[1:]...), nil
}

func (a *app) onStopRemove() *cobra.Command {
	cmd := a.command("remove NAME", helpOnStop, 1, 1, func(_ *cobra.Command, args []string) error {
		name, err := settings.ParseName(args[0])
		if err != nil {
			return usage{err, "see: lnk sandbox on-stop --help"}
		}
		home, err := a.home()
		if err != nil {
			return err
		}
		err = control.RemoveOnStop(home, name)
		if errors.Is(err, fs.ErrNotExist) {
			return hinted{fmt.Errorf("nothing called %s runs with a stop", name), "what does: lnk sandbox on-stop list"}
		}
		if err != nil {
			return err
		}
		a.printf("%s runs with a stop no more.\n", name)
		return nil
	})
	cmd.ValidArgsFunction = a.completeNames(onStopNames)
	return cmd
}

// onStopJSON is a registration in on-stop list --json. The field names are stable.
type onStopJSON struct {
	Name      settings.Name `json:"name"`
	Command   []string      `json:"command"`
	Directory string        `json:"directory,omitempty"`
	Limit     string        `json:"limit"` // as Go writes a duration: 10s
}

func (a *app) onStopList() *cobra.Command {
	var asJSON bool
	cmd := a.command("list [--json]", helpOnStop, 0, 0, func(*cobra.Command, []string) error {
		home, err := a.homeToWrite()
		if err != nil {
			return err
		}
		all, errs := control.ListOnStop(home)
		if err := a.onStopAs(all, asJSON); err != nil {
			return err
		}
		a.warn(errs)
		return failedIf(errs)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "")
	return cmd
}

func (a *app) onStopAs(all []control.OnStop, asJSON bool) error {
	if asJSON {
		rows := make([]onStopJSON, 0, len(all))
		for _, o := range all {
			rows = append(rows, onStopJSON{o.Name, o.Command, o.Directory, limitOf(o).String()})
		}
		return a.json(rows)
	}
	if len(all) == 0 {
		a.printf("Nothing runs with a stop.\n")
		return nil
	}
	t := a.table("NAME", "LIMIT", "COMMAND")
	for _, o := range all {
		t.row(string(o.Name), limitOf(o).String(), strings.Join(o.Command, " "))
	}
	return t.flush()
}

func limitOf(o control.OnStop) time.Duration {
	if o.Seconds == 0 {
		return control.DefaultStopLimit
	}
	return time.Duration(o.Seconds) * time.Second
}
