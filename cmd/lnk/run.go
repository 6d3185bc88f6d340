package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lnk/policy"
	"lnk/sandbox"
	"lnk/settings"
)

// run is lnk sandbox run. Its exit status is the program's own; 128 and a signal's number where one ended it; 125 where lnk itself
// failed and nothing ran; 126 for a program that can't be run and 127 for one that isn't there.
func (a *app) run() *cobra.Command {
	var o sandbox.Options
	var name string
	var quiet bool
	cmd := a.command("run [FLAGS] [--] PROGRAM [ARGUMENT…]", helpRun, 1, -1, func(cmd *cobra.Command, args []string) error {
		o.Argv = args
		if cmd.Flags().Changed("name") {
			checked, err := settings.ParseName(name)
			if err != nil {
				return usage{err, "see: lnk sandbox run --help"}
			}
			o.Name = checked
		}
		o.Tell = func(e sandbox.Event) {
			if started, ok := e.(sandbox.Started); ok && !a.isThere(args[0]) && started.Mode != policy.ModeHost {
				return // it won't start, and that is what will be said
			}
			a.tell(e, quiet)
		}
		status, err := sandbox.Run(context.Background(), o)
		if err != nil {
			return err
		}
		if status != 0 {
			return exit(status)
		}
		return nil
	})
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows the program is the program's
	flags.StringVarP(&name, "name", "n", "", "")
	flags.StringArrayVarP(&o.Flags.Endpoints, "allow", "a", nil, "")
	flags.StringArrayVarP(&o.Flags.Ports, "port", "p", nil, "")
	flags.StringVar(&o.SpecFile, "spec", "", "")
	flags.StringVar(&o.Flags.Mode, "network", "", "")
	flags.StringVar(&o.User, "user", "", "")
	flags.BoolVarP(&quiet, "quiet", "q", false, "")
	a.completeRun(cmd)
	return cmd
}

// tell words what a run has to say. Quiet leaves out what is as expected, and nothing else.
func (a *app) tell(e sandbox.Event, quiet bool) {
	switch e := e.(type) {
	case sandbox.Started:
		a.started(e, quiet)
	case sandbox.SpecChanged:
		if quiet {
			return
		}
		a.say(fmt.Sprintf("lnk: %s was read again: %s", e.Path, e.Network))
		if e.Later {
			a.say("lnk: ports of this machine that are new there are at localhost from the next start on")
		}
	case sandbox.SpecKept:
		a.say(fmt.Sprintf("lnk: warning: %s has changed, but the rules stay as they were: %v", e.Path, e.Err))
	case sandbox.Paused:
		a.say(fmt.Sprintf("lnk: warning: sandbox %s is paused: %s; to end it, outside: lnk sandbox resume %[1]s", e.Name, e.Why))
	case sandbox.LogTrouble:
		a.say("lnk: warning: " + e.Text)
	}
}

func (a *app) started(e sandbox.Started, quiet bool) {
	if e.Mode == policy.ModeHost {
		a.say("lnk: WARNING: NO SANDBOX: the program has this machine's own network; no call is judged, logged or stopped")
		return
	}
	if e.Closed != "" {
		a.say(fmt.Sprintf("lnk: warning: sandbox %s starts closed: %s; no call will pass", e.Name, e.Closed))
	}
	for _, what := range e.Vain {
		a.say("lnk: warning: " + what)
	}
	if e.NoIPv6 {
		a.say("lnk: warning: this machine has IPv6 switched off, and so has the sandbox")
	}
	if !quiet {
		a.say(fmt.Sprintf("lnk: sandbox %s: %s; log: lnk sandbox log %[1]s", e.Name, e.Network))
	}
}
