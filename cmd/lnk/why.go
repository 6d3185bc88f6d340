package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"lnk/policy"
	"lnk/sandbox"
	"lnk/settings"
	"lnk/spec"
)

// asked is what why judges by, where it isn't a sandbox's name.
type asked struct {
	file  string
	flags spec.Flags
}

func (q asked) any() bool {
	return q.file != "" || q.flags.Mode != "" || len(q.flags.Endpoints) > 0 || len(q.flags.Ports) > 0
}

func (a *app) why() *cobra.Command {
	var q asked
	cmd := a.command("why [FLAGS] [NAME] TARGET", helpWhy, 1, 2, func(cmd *cobra.Command, args []string) error {
		if want := map[bool]int{true: 1, false: 2}[q.any()]; len(args) != want {
			return badUsage(cmd, "it takes a name and a target, or flags and a target")
		}
		host, port, err := parseTarget(args[len(args)-1])
		if err != nil {
			return usage{err, "a target is a host and port, a URL, or localhost:PORT"}
		}
		home, err := a.homeToWrite()
		if err != nil {
			return err
		}
		if q.any() {
			s, err := sandbox.ReadSpec(q.file, q.flags)
			if err != nil {
				return err
			}
			return a.answer(s.Rules(), host, port)
		}
		return a.whyNamed(home, args[0], host, port)
	})
	flags := cmd.Flags()
	flags.StringVar(&q.file, "spec", "", "")
	flags.StringArrayVarP(&q.flags.Endpoints, "allow", "a", nil, "")
	flags.StringArrayVarP(&q.flags.Ports, "port", "p", nil, "")
	flags.StringVar(&q.flags.Mode, "network", "", "")
	cmd.ValidArgsFunction = a.completeNames(func(h settings.Home) []string { return append(runningNames(h), specNames(h)...) })
	return cmd
}

// whyNamed answers for a running sandbox, or for the spec of that name.
func (a *app) whyNamed(home settings.Home, arg string, host policy.Host, port uint16) error {
	name, err := settings.ParseName(arg)
	if err != nil {
		return usage{err, "what runs: lnk sandbox list"}
	}
	rules, err := rulesOf(home, name)
	if errors.Is(err, fs.ErrNotExist) {
		return hinted{fmt.Errorf("no sandbox called %s is running, and there is no spec of that name", name), "what runs: lnk sandbox list"}
	}
	if err != nil {
		return err
	}
	answer := a.answer(rules, host, port)
	if state, why := stateOf(home, name); state != "open" {
		a.printf("now: it is %s, so every call is refused%s\n", state, because(why))
		return exit(statusFailed)
	}
	return answer
}

func rulesOf(home settings.Home, name settings.Name) (policy.Rules, error) {
	running, err := sandbox.Find(home, name)
	if err == nil {
		return running.Rules()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return policy.Rules{}, err
	}
	s, err := sandbox.ReadSpec(home.Spec(name), spec.Flags{})
	return s.Rules(), err
}

// answer says what the rules say, and how to allow what they refuse.
func (a *app) answer(rules policy.Rules, host policy.Host, port uint16) error {
	target := targetText(host, port)
	if rules.Mode() == policy.ModeHost {
		a.printf("allowed: %s: the network is this machine's own, and nothing is judged\n", target)
		return nil
	}
	d := judge(rules, host, port)
	if d.Allowed {
		a.printf("allowed: %s%s\n", target, byRule(d.Rule))
		if d.Rule == modeOpen || strings.HasPrefix(d.Rule, "*.") {
			if _, named := host.Name(); named {
				a.printf("  as long as its address is a public one\n")
			}
		}
		return nil
	}
	a.printf("refused: %s: %s%s\n", target, d.Reason, because(d.Detail))
	if way := wayToAllow(rules, host, port); way != "" {
		a.printf("  to allow it: %s\n", way)
	}
	return exit(statusFailed)
}

// modeOpen is how a decision names the rule that allows all that is public.
const modeOpen = `mode "open"`

// judge asks in the wire's order, as far as that goes without a lookup.
func judge(rules policy.Rules, host policy.Host, port uint16) policy.Decision {
	addr, literal := host.Addr()
	if !literal {
		d := rules.Shown(host, port)
		if d.Reason == policy.ReasonShownNotAllowed {
			d.Reason = policy.ReasonNameNotAllowed // it is what the call goes to as well
		}
		return d
	}
	if policy.Classify(addr) == policy.ClassMetadata {
		return policy.Decision{Reason: policy.ReasonMetadata}
	}
	to := addrPort(addr, port)
	if d := rules.Connection(to, nil); !d.Allowed {
		return d
	}
	return rules.Address(to, host, isThisMachine)
}

func byRule(rule string) string {
	if rule == "" {
		return ""
	}
	return ", by " + rule
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + oneLine(why) + ")"
}
