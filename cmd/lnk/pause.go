package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"lnk/control"
	"lnk/sandbox"
	"lnk/settings"
	"lnk/wirelog"
)

func (a *app) pause() *cobra.Command {
	var why string
	cmd := a.command("pause NAME [--why TEXT]", helpPause, 1, 1, func(_ *cobra.Command, args []string) error {
		home, name, err := a.named(args[0])
		if err != nil {
			return err
		}
		if err := control.Pause(home, name, why, whoAmI()); err != nil {
			return err
		}
		a.logPause(home, name, wirelog.Refused, "paused by "+whoAmI()+colon(why))
		if _, err := sandbox.Find(home, name); err != nil {
			a.printf("%s is paused; no sandbox of that name is running now. One that starts will find it paused.\n", name)
		} else {
			a.printf("%s is paused: it refuses every call, and what was open ends within a second.\n", name)
		}
		a.printf("To undo it: lnk sandbox resume %s\n", name)
		return nil
	})
	cmd.Flags().StringVar(&why, "why", "", "")
	cmd.ValidArgsFunction = a.completeNames(runningNames)
	return cmd
}

func (a *app) resume() *cobra.Command {
	cmd := a.command("resume NAME", helpResume, 1, 1, func(_ *cobra.Command, args []string) error {
		home, name, err := a.named(args[0])
		if err != nil {
			return err
		}
		err = control.Resume(home, name)
		if errors.Is(err, control.ErrNotPaused) {
			return hinted{fmt.Errorf("%s isn't paused", name), "what is: lnk sandbox paused"}
		}
		if err != nil {
			return err
		}
		a.logPause(home, name, wirelog.Allowed, "resumed by "+whoAmI())
		a.printf("%s may call again.\n", name)
		if state, _ := stateOf(home, name); state == control.CauseStopped.String() {
			a.say("lnk: warning: every sandbox is stopped still; to undo that: lnk sandbox stop --off")
		}
		return nil
	})
	cmd.ValidArgsFunction = a.completeNames(pausedNames)
	return cmd
}

// logPause writes the line of a pause, or of its end, by hand. The pause holds whether or not it can be written.
func (a *app) logPause(home settings.Home, name settings.Name, o wirelog.Outcome, reason string) {
	log, err := wirelog.Open(home.Log(), wirelog.Options{Sandbox: name})
	if err == nil {
		err = log.Write(wirelog.Record{
			Verb: wirelog.Pause, Target: wirelog.NameTarget(string(name)), Outcome: o, Reason: reason, Always: true,
		})
		err = errors.Join(err, log.Close())
	}
	if err != nil {
		a.warn([]error{err})
	}
}

// named reads a name, and gives the settings to use it in.
func (a *app) named(arg string) (settings.Home, settings.Name, error) {
	name, err := settings.ParseName(arg)
	if err != nil {
		return settings.Home{}, "", usage{err, "what runs: lnk sandbox list"}
	}
	home, err := a.homeToWrite()
	return home, name, err
}

// whoAmI is the caller's login name, or number where there is no name. (os/user remembers who the process was before it
// became the caller, so it is asked by number.)
func whoAmI() string {
	id := strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// pausedJSON is a pause in paused --json. The field names are stable.
type pausedJSON struct {
	Name  settings.Name `json:"name"`
	Why   string        `json:"why"`
	By    string        `json:"by"`
	Since *time.Time    `json:"since,omitempty"` // absent where it isn't known
}

// stoppedJSON is what paused --json says: the stop, and every pause.
type stoppedJSON struct {
	Stopped bool         `json:"stopped"` // also where the settings can't be looked at, which counts as stopped
	Paused  []pausedJSON `json:"paused"`
}

func (a *app) paused() *cobra.Command {
	var asJSON bool
	cmd := a.command("paused [--json]", helpPaused, 0, 0, func(*cobra.Command, []string) error {
		home, err := a.homeToWrite()
		if err != nil {
			return err
		}
		all, errs := control.Paused(home)
		if err := a.pausedAs(!control.Stopped(home).Open(), all, asJSON); err != nil {
			return err
		}
		a.warn(errs)
		return failedIf(errs)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "")
	return cmd
}

func (a *app) pausedAs(stopped bool, all []control.PauseRecord, asJSON bool) error {
	if asJSON {
		doc := stoppedJSON{Stopped: stopped, Paused: make([]pausedJSON, 0, len(all))}
		for _, p := range all {
			row := pausedJSON{Name: p.Name, Why: p.Why, By: p.By}
			if !p.Since.IsZero() {
				row.Since = &p.Since
			}
			doc.Paused = append(doc.Paused, row)
		}
		return a.json(doc)
	}
	if stopped {
		a.printf("Every sandbox is stopped. To undo it: lnk sandbox stop --off\n")
	}
	if len(all) == 0 {
		a.printf("No sandbox is paused.\n")
		return nil
	}
	t := a.table("NAME", "SINCE", "BY", "WHY")
	for _, p := range all {
		since := "-"
		if !p.Since.IsZero() {
			since = p.Since.Local().Format(time.DateTime)
		}
		t.row(string(p.Name), since, dash(p.By), dash(p.Why))
	}
	return t.flush()
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
