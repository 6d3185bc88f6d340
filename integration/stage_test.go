package integration

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lnk/integration/internet"
	"lnk/wirelog"
)

// stage is the world as one test of one way to run lnk has it.
type stage struct {
	*internet.World
	t   *testing.T
	who internet.User
	// killed: a sandbox was killed outright, so calls that it had open have no end in the log, and its record stays until
	// somebody looks.
	killed bool
}

// each runs a test in each of the three ways to run lnk, with the real servers it needs.
func each(t *testing.T, servers []string, test func(s *stage)) {
	for _, who := range internet.Ways() {
		t.Run(string(who), func(t *testing.T) { test(enter(t, who, servers...)) })
	}
}

func enter(t *testing.T, who internet.User, servers ...string) *stage {
	t.Helper()
	s := &stage{World: internet.New(t, servers...), t: t, who: who}
	t.Cleanup(s.checkLog)
	return s
}

// lnk runs lnk to its end.
func (s *stage) lnk(args ...string) internet.Result {
	s.t.Helper()
	return s.Machine.Run(s.t, s.who, append([]string{"lnk"}, args...)...)
}

// run runs a program in a sandbox called "it", with flags as one line of words.
func (s *stage) run(flags string, program ...string) internet.Result {
	s.t.Helper()
	return s.lnk(runArgs(flags, program...)...)
}

func runArgs(flags string, program ...string) []string {
	args := append([]string{"sandbox", "run", "-n", "it"}, strings.Fields(flags)...)
	return append(append(args, "--"), program...)
}

// ok fails the test unless a command succeeded and printed want.
func (s *stage) ok(r internet.Result, want string) {
	s.t.Helper()
	if r.Status != 0 || !strings.Contains(r.Stdout, want) {
		s.t.Errorf("want status 0 and %q printed; %v\nthe log:\n%s", want, r, s.logTail())
	}
}

// promptly fails the test if a command took longer than anyone would call at once.
func (s *stage) promptly(r internet.Result) {
	s.t.Helper()
	if r.Took > 3*time.Second {
		s.t.Errorf("it was to fail at once and took %s: %v", r.Took, r)
	}
}

func (s *stage) logFile() string { return filepath.Join(s.who.Settings(), "sandbox", "wire.log") }

func (s *stage) logText() string {
	text, err := os.ReadFile(s.logFile())
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatalf("reading the log: %v", err)
	}
	return string(text)
}

// logTail is the log's end, as much as a failure needs.
func (s *stage) logTail() string {
	lines := strings.SplitAfter(s.logText(), "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "")
}

// log gives the log's records. A line that can't be read fails the test.
func (s *stage) log() []wirelog.Record {
	s.t.Helper()
	var records []wirelog.Record
	for line := range strings.Lines(s.logText()) {
		r, err := wirelog.Parse(strings.TrimSuffix(line, "\n"))
		if err != nil || !strings.HasSuffix(line, "\n") {
			s.t.Fatalf("the log holds %q: %v", line, err)
		}
		records = append(records, r)
	}
	return records
}

// short is a record without its time and name: "connect allowed.test:443 allowed".
func short(r wirelog.Record) string {
	text := fmt.Sprintf("%s %s %s", r.Verb, r.Target, r.Outcome)
	if r.Reason != "" {
		text += " (" + r.Reason + ")"
	}
	return text
}

// lines are the log's records in short, those of one verb where verbs are given.
func (s *stage) lines(verbs ...wirelog.Verb) []string {
	s.t.Helper()
	var lines []string
	for _, r := range s.log() {
		for _, v := range verbs {
			if r.Verb == v {
				lines = append(lines, short(r))
			}
		}
		if len(verbs) == 0 {
			lines = append(lines, short(r))
		}
	}
	return lines
}

// count is how many lines begin so, those that were left out included.
func (s *stage) count(prefix string) int {
	s.t.Helper()
	n := 0
	for _, r := range s.log() {
		if strings.HasPrefix(short(r), prefix) {
			n += 1 + r.More
		}
	}
	return n
}

// wantLines fails the test unless, for each prefix, exactly n lines begin with it.
func (s *stage) wantLines(n int, prefixes ...string) {
	s.t.Helper()
	for _, prefix := range prefixes {
		if got := s.count(prefix); got != n {
			s.t.Errorf("%d lines begin with %q, want %d; the log:\n%s", got, prefix, n, s.logTail())
		}
	}
}

// checkLog holds for every test: lines can be read, the file is its owner's alone, each call that was allowed has
// ended, and no record of a run or of its traffic is left.
func (s *stage) checkLog() {
	type call struct{ name, verb, target string }
	open := map[call]int{}
	var outcomes struct{ allowed, ended int }
	leftOut := false
	for _, r := range s.log() {
		if r.Time.IsZero() || r.Sandbox == "" {
			s.t.Errorf("a line has no time or no name: %v", r)
		}
		key := call{string(r.Sandbox), string(r.Verb), r.Target.String()}
		switch {
		case r.Verb == wirelog.Pause:
		case r.Outcome == wirelog.Ended:
			open[key]--
			outcomes.ended += 1 + r.More
		case r.Outcome == wirelog.Allowed:
			outcomes.allowed += 1 + r.More
			if r.Verb != wirelog.DNS {
				open[key]++
			}
		}
		leftOut = leftOut || r.More > 0
	}
	if outcomes.ended > outcomes.allowed {
		s.t.Errorf("%d calls ended, and only %d were allowed; the log:\n%s", outcomes.ended, outcomes.allowed, s.logTail())
	}
	if leftOut { // past 120 a minute, lines no longer tell which
		open = nil
	}
	for c, n := range open {
		if n < 0 || n > 0 && !s.killed {
			s.t.Errorf("%+v: %d more allowed than ended; the log:\n%s", c, n, s.logTail())
		}
	}
	s.checkSettings()
}

// checkSettings wants the settings to be their owner's alone, and without what a run leaves only while it runs.
func (s *stage) checkSettings() {
	err := filepath.WalkDir(s.who.Settings(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if owner := int(info.Sys().(*syscall.Stat_t).Uid); owner != s.who.UID() || info.Mode().Perm()&0o077 != 0 {
			s.t.Errorf("%s belongs to %d with mode %v, want %d's alone", path, owner, info.Mode(), s.who.UID())
		}
		for _, dir := range []string{"runs", "traffic"} {
			if filepath.Base(filepath.Dir(path)) == dir && !strings.HasPrefix(d.Name(), ".") && !s.killed {
				s.t.Errorf("a run has left %s", path)
			}
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		s.t.Errorf("looking through the settings: %v", err)
	}
}

// settled are the calls that a server recorded, once they have all ended.
func (s *stage) settled(server string) []internet.Call {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	calls, err := s.Server(server).Settled(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return calls
}

// unreached fails the test if any connection came to a server.
func (s *stage) unreached(server string) {
	s.t.Helper()
	if calls := s.Server(server).Calls(); len(calls) > 0 {
		s.t.Errorf("%s was reached by %d calls; the first came to %v and sent %q", server, len(calls), calls[0].Local, calls[0].First)
	}
}

// untold fails the test if any byte of a client's came to a server. Where an address is allowed by itself, it is called at
// once, for its server may speak first; what the client then says is judged before it is passed on.
func (s *stage) untold(server string) {
	s.t.Helper()
	if bytes := s.Server(server).Bytes(); len(bytes) > 0 {
		s.t.Errorf("%s was told %q", server, bytes)
	}
}

// unasked fails the test if a name was looked up in the internet.
func (s *stage) unasked(name string) {
	s.t.Helper()
	if asked := s.DNS.Asked(name); len(asked) > 0 {
		s.t.Errorf("%s was looked up in the internet: %+v", name, asked)
	}
}

// eventually waits until ok holds, asking again and again; what is outside this process announces nothing.
func (s *stage) eventually(limit time.Duration, what string, ok func() bool) {
	s.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	late := time.After(limit)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			s.t.Fatalf("after %s still not: %s; the log:\n%s", limit, what, s.logTail())
		}
	}
}
