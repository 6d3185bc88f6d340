package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// root is the tree of commands.
func (a *app) root() *cobra.Command {
	root := a.group("lnk", helpRoot)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { fmt.Fprint(a.out, cmd.Long) })
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return badUsage(cmd, "%w", badFlag(err)) })
	root.SetHelpCommand(a.help(root))
	root.Version = versionText() // makes --version and -v
	root.SetVersionTemplate(versionLine())
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(a.sandbox(), a.completion(root), a.version())
	return root
}

func (a *app) sandbox() *cobra.Command {
	group := a.group("sandbox", helpSandbox)
	group.AddCommand(
		a.run(), a.log(), a.traffic(), a.list(),
		a.stop(), a.onStop(), a.pause(), a.resume(), a.paused(),
		a.check(), a.why(),
	)
	return group
}

// badFlag words a flag's value that can't be read: whoever wrote it doesn't know strconv.
func badFlag(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	want := map[string]string{
		"int": "a whole number", "duration": "a length of time, such as 10s or 2m", "bool": "true or false",
	}[bad.GetFlag().Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s %.40q: it is not %s", bad.GetFlag().Name, bad.GetValue(), want)
}

// group is a command that only has others below it.
func (a *app) group(name, help string) *cobra.Command {
	return &cobra.Command{
		Use: name, Long: help, Args: cobra.ArbitraryArgs, DisableFlagsInUseLine: true, SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			err := badUsage(cmd, "unknown command %q", args[0])
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				err = usage{fmt.Errorf("unknown command %q", args[0]), "did you mean: " + cmd.CommandPath() + " " + near[0]}
			}
			return err
		},
	}
}

// command is a command that does something with at least min and at most max arguments (any number where max is negative).
func (a *app) command(use, help string, min, max int, do func(cmd *cobra.Command, args []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Long: help, DisableFlagsInUseLine: true, RunE: do}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < min:
			return badUsage(cmd, "too few arguments: %s", cmd.UseLine())
		case max >= 0 && len(args) > max:
			return badUsage(cmd, "too many arguments, from %q on: %s", args[max], cmd.UseLine())
		}
		return nil
	}
	cmd.Flags().SortFlags = false
	return cmd
}

func (a *app) help(root *cobra.Command) *cobra.Command {
	return a.command("help [COMMAND]…", helpRoot, 0, -1, func(_ *cobra.Command, args []string) error {
		cmd, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return badUsage(root, "no help for %q: there is no such command", args[len(args)-1])
		}
		return cmd.Help()
	})
}
