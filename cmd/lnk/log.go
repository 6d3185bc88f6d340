package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lnk/settings"
	"lnk/wirelog"
)

// logAsked is what lnk sandbox log was asked, as it was written.
type logAsked struct {
	name, since, verb, outcome string
	lines                      int
	numbered                   bool // lines was given
	follow, summary, asJSON    bool
}

func (a *app) log() *cobra.Command {
	var q logAsked
	cmd := a.command("log [NAME] [FLAGS]", helpLog, 0, 1, func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			q.name = args[0]
		}
		q.numbered = cmd.Flags().Changed("lines")
		query, err := a.query(q)
		if err != nil {
			return usage{err, "see: lnk sandbox log --help"}
		}
		home, err := a.home()
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
		defer stop()
		a.noteNoLine(home, query.Sandbox)
		lines := wirelog.Read(home.Log(), query)
		if q.follow {
			lines = wirelog.Follow(ctx, home.Log(), query)
		}
		if q.summary {
			return a.logSummary(lines, q.asJSON)
		}
		return a.logLines(lines, q)
	})
	flags := cmd.Flags()
	flags.BoolVarP(&q.follow, "follow", "f", false, "")
	flags.IntVarP(&q.lines, "lines", "n", 0, "")
	flags.StringVar(&q.since, "since", "", "")
	flags.StringVar(&q.verb, "verb", "", "")
	flags.StringVar(&q.outcome, "outcome", "", "")
	flags.BoolVar(&q.summary, "summary", false, "")
	flags.BoolVar(&q.asJSON, "json", false, "")
	cmd.ValidArgsFunction = a.completeNames(runningNames)
	_ = cmd.RegisterFlagCompletionFunc("verb", fixedWords(spelled(wirelog.Verbs())...))
	_ = cmd.RegisterFlagCompletionFunc("outcome", fixedWords(spelled(wirelog.Outcomes())...))
	return cmd
}

// query is what was asked, checked.
func (a *app) query(q logAsked) (query wirelog.Query, err error) {
	if q.follow && q.summary {
		return query, errors.New("--summary comes to an end, and --follow doesn't: leave one out")
	}
	if q.name != "" {
		if query.Sandbox, err = settings.ParseName(q.name); err != nil {
			return query, err
		}
	}
	if q.since != "" {
		if query.Since, err = parseSince(q.since, a.now()); err != nil {
			return query, err
		}
	}
	if query.Verb, err = known("--verb", wirelog.Verb(q.verb), wirelog.Verbs()); err != nil {
		return query, err
	}
	if query.Outcome, err = known("--outcome", wirelog.Outcome(q.outcome), wirelog.Outcomes()); err != nil {
		return query, err
	}
	switch {
	case q.lines < 0:
		return query, fmt.Errorf("--lines %d: it is less than none", q.lines)
	case q.lines == 0 && q.numbered:
		query.Last = -1
	default:
		query.Last = q.lines
	}
	return query, nil
}

// noteNoLine says of a name that the log doesn't have it: it may be misspelt. It says so before anything is shown, since what
// follows the log may wait for that name for ever.
func (a *app) noteNoLine(home settings.Home, name settings.Name) {
	if name == "" {
		return
	}
	for line, err := range wirelog.Read(home.Log(), wirelog.Query{Sandbox: name}) {
		if err != nil || line.Err == nil {
			return // a line of it; or a file that can't be read, which is told with the lines
		}
	}
	a.say(fmt.Sprintf("lnk: no line of %s", name))
}

// known is a word that is one of those there are, or empty.
func known[W ~string](flag string, w W, all []W) (W, error) {
	if w != "" && !slices.Contains(all, w) {
		return "", fmt.Errorf("%s %.40q: there are %s", flag, string(w), strings.Join(spelled(all), ", "))
	}
	return w, nil
}

func spelled[W ~string](all []W) (out []string) {
	for _, w := range all {
		out = append(out, string(w))
	}
	return out
}

// logLines shows lines as they come. One that can't be read is shown as such; a file that can't be is a warning.
func (a *app) logLines(lines iter.Seq2[wirelog.Line, error], q logAsked) error {
	out := bufio.NewWriterSize(a.out, 64<<10)
	defer out.Flush()
	page := newPage(isTerminal(a.out) && a.getenv("NO_COLOR") == "")
	encode := json.NewEncoder(out)
	encode.SetEscapeHTML(false)
	failed := error(nil)
	for line, err := range lines {
		switch {
		case err != nil:
			out.Flush()
			a.say("lnk: warning: " + err.Error())
			failed = exit(statusFailed)
		case q.asJSON:
			err = encode.Encode(line)
		default:
			_, err = out.Write(page.line(line))
		}
		if q.follow && err == nil {
			err = out.Flush()
		}
		if err != nil && failed == nil {
			return fmt.Errorf("showing the log: %w", err)
		}
	}
	return failed
}

// logSummary shows each target once.
func (a *app) logSummary(lines iter.Seq2[wirelog.Line, error], asJSON bool) error {
	all, failed := wirelog.Summarize(lines)
	if failed != nil {
		a.say("lnk: warning: " + failed.Error())
		failed = exit(statusFailed)
	}
	if asJSON {
		return errors.Join(a.json(all), failed)
	}
	t := a.table("TARGET", "CALLS", "ALLOWED", "REFUSED", "FAILED", "OUT", "IN")
	for _, s := range append(all.Targets, all.Total) {
		name := s.Target.String()
		if s.Target == (wirelog.Target{}) {
			name = "all"
		}
		t.row(name, number(s.Calls()), number(s.Allowed), number(s.Refused), number(s.Failed), size(s.Out), size(s.In))
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, o := range wirelog.Outcomes() {
		if n := all.LeftOut[o]; n > 0 {
			a.printf("The log left out %d more %s.\n", n, o)
		}
	}
	if all.Unreadable > 0 {
		a.printf("Lines that can't be read: %d.\n", all.Unreadable)
	}
	return failed
}
