package main

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"lnk/control"
	"lnk/sandbox"
	"lnk/settings"
)

// listed is a running sandbox in list --json. The field names are stable.
type listed struct {
	Name      settings.Name `json:"name"`
	Program   string        `json:"program"`
	PID       int           `json:"pid"`
	Mode      string        `json:"mode"`
	Endpoints []string      `json:"endpoints,omitempty"`
	Ports     []uint16      `json:"ports,omitempty"`
	Since     time.Time     `json:"since"`
	State     string        `json:"state"` // open, stopped, paused or unreadable
	Why       string        `json:"why,omitempty"`
}

func (a *app) list() *cobra.Command {
	var asJSON bool
	cmd := a.command("list [--json]", helpList, 0, 0, func(*cobra.Command, []string) error {
		home, err := a.homeToWrite()
		if err != nil {
			return err
		}
		runs, errs := sandbox.List(home)
		rows := make([]listed, 0, len(runs))
		for _, r := range runs {
			rows = append(rows, listedOf(home, r))
		}
		if err := a.listAs(rows, asJSON); err != nil {
			return err
		}
		a.warn(errs)
		return failedIf(errs)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "")
	return cmd
}

func listedOf(home settings.Home, r sandbox.Running) listed {
	l := listed{Name: r.Name, Program: r.Program, PID: r.PID, Mode: r.Mode, Endpoints: r.Endpoints, Ports: r.Ports, Since: r.Since}
	l.State, l.Why = stateOf(home, r.Name)
	return l
}

// stateOf says whether a sandbox's calls may pass now, and why not.
func stateOf(home settings.Home, name settings.Name) (state, why string) {
	gate, err := control.NewGate(home, name)
	if err != nil {
		return control.CauseUnreadable.String(), err.Error()
	}
	s := gate.Look()
	return s.Cause.String(), s.Why
}

func (a *app) listAs(rows []listed, asJSON bool) error {
	if asJSON {
		return a.json(rows)
	}
	if len(rows) == 0 {
		a.printf("No sandbox is running.\n")
		return nil
	}
	t := a.table("NAME", "PROGRAM", "NETWORK", "STATE", "UP", "PID")
	for _, l := range rows {
		t.row(string(l.Name), l.Program, l.Mode, l.State, age(a.now().Sub(l.Since)), number(l.PID))
	}
	return t.flush()
}

// json prints a value as one indented JSON document.
func (a *app) json(v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// failedIf is the status of a command that said what it could, and warned of the rest.
func failedIf(errs []error) error {
	if len(errs) > 0 {
		return exit(statusFailed)
	}
	return nil
}
