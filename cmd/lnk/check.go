package main

import (
	"github.com/spf13/cobra"

	"lnk/sandbox"
)

// checkedPart is a part in check --json, and checkedJSON the whole of it. The field names are stable.
type checkedPart struct {
	Part    sandbox.Part `json:"part"`
	OK      bool         `json:"ok"`
	Problem string       `json:"problem,omitempty"`
	Hint    string       `json:"hint,omitempty"`
}

type checkedJSON struct {
	OK    bool          `json:"ok"`
	Parts []checkedPart `json:"parts"`
}

// partText says what works where a part does.
var partText = map[sandbox.Part]string{
	sandbox.PartUser:       "the program would run as you",
	sandbox.PartSettings:   "the settings folder is yours and can be looked at",
	sandbox.PartNamespaces: "namespaces can be made",
	sandbox.PartRoom:       "a room can be built, and what is called in it arrives at the wire",
	sandbox.PartIPv6:       "IPv6 is there inside",
	sandbox.PartProgram:    "a program runs in it",
}

func (a *app) check() *cobra.Command {
	var asJSON bool
	cmd := a.command("check [--json]", helpCheck, 0, 0, func(cmd *cobra.Command, _ []string) error {
		result := a.checked(sandbox.Check(cmd.Context()))
		if asJSON {
			if err := a.json(result); err != nil {
				return err
			}
		} else {
			a.printChecked(result)
		}
		if !result.OK {
			return exit(statusFailed)
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "")
	return cmd
}

func (a *app) checked(found []sandbox.Finding) checkedJSON {
	result := checkedJSON{OK: true}
	for _, f := range found {
		part := checkedPart{Part: f.Part, OK: f.Err == nil}
		if f.Err != nil {
			part.Problem, part.Hint = a.explain(f.Err)
			result.OK = result.OK && f.Part == sandbox.PartIPv6 // a sandbox holds without it
		}
		result.Parts = append(result.Parts, part)
	}
	return result
}

func (a *app) printChecked(result checkedJSON) {
	for _, p := range result.Parts {
		switch {
		case p.OK:
			a.printf("ok       %s\n", partText[p.Part])
		case p.Part == sandbox.PartIPv6:
			a.printf("note     %s\n", oneLine(p.Problem))
		default:
			a.printf("MISSING  %s\n", oneLine(p.Problem))
			if p.Hint != "" {
				a.printf("         %s\n", oneLine(p.Hint))
			}
		}
	}
	if result.OK {
		a.printf("This machine can hold a sandbox.\n")
	} else {
		a.printf("This machine can't hold a sandbox as it is.\n")
	}
}
