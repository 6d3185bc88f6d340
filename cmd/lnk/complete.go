package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lnk/control"
	"lnk/sandbox"
	"lnk/settings"
)

// completion prints a shell's script, which asks lnk itself for what completes.
func (a *app) completion(root *cobra.Command) *cobra.Command {
	scripts := map[string]func() error{
		"bash": func() error { return root.GenBashCompletionV2(a.out, true) },
		"zsh":  func() error { return root.GenZshCompletion(a.out) },
		"fish": func() error { return root.GenFishCompletion(a.out, true) },
	}
	cmd := a.command("completion bash|zsh|fish", helpCompletion, 1, 1, func(cmd *cobra.Command, args []string) error {
		script, ok := scripts[args[0]]
		if !ok {
			return badUsage(cmd, "shell %.40q: there are bash, zsh, fish", args[0])
		}
		return script()
	})
	cmd.ValidArgsFunction = fixedWords("bash", "zsh", "fish")
	return cmd
}

// names gives the names that a shell may complete.
type names func(settings.Home) []string

// completeNames completes a command's first argument. A folder that can't be read completes to nothing.
func (a *app) completeNames(of names) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		home, err := a.home()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return of(home), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeRun completes what sandbox run takes.
func (a *app) completeRun(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("network", fixedWords("endpoints", "open", "none", "host"))
	_ = cmd.RegisterFlagCompletionFunc("allow", fixedWords())
	_ = cmd.RegisterFlagCompletionFunc("port", fixedWords())
	_ = cmd.RegisterFlagCompletionFunc("name", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		home, err := a.home()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return specNames(home), cobra.ShellCompDirectiveNoFileComp
	})
}

// fixedWords completes words that are always the same.
func fixedWords(words ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func runningNames(home settings.Home) (out []string) {
	runs, _ := sandbox.List(home)
	for _, r := range runs {
		out = append(out, string(r.Name))
	}
	return out
}

func pausedNames(home settings.Home) (out []string) {
	all, _ := control.Paused(home)
	for _, p := range all {
		out = append(out, string(p.Name))
	}
	return out
}

func onStopNames(home settings.Home) (out []string) {
	all, _ := control.ListOnStop(home)
	for _, o := range all {
		out = append(out, string(o.Name))
	}
	return out
}

func specNames(home settings.Home) (out []string) {
	entries, _ := os.ReadDir(home.SpecsFolder())
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ".toml")
		if _, err := settings.ParseName(base); ok && err == nil {
			out = append(out, base)
		}
	}
	return out
}
