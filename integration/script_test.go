package integration

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lnk/integration/internet"
)

//go:embed testdata/*.txtar
var scripts embed.FS

// TestScripts runs testdata, in each way to run lnk. Beside testscript's own commands there are:
//
//	lnk ARG…         lnk, as the one whose turn it is, in the script's folder; its status is kept for "status"
//	as USER CMD…     a command of root, ada or bob
//	status N         the last lnk's exit status
//	oneerror REGEXP  the last lnk said one "lnk: error:" line, which matches, and nothing that isn't lnk's
//	hint REGEXP      …and a "lnk: hint:" line that matches
//	settings         the settings folder of whose turn it is, as $SETTINGS; HOME likewise
func TestScripts(t *testing.T) {
	each(t, []string{"allowed"}, func(s *stage) {
		dir := filepath.Join(s.who.Home(), "scripts")
		layScripts(s.t, dir)
		for _, d := range []string{dir, filepath.Join(s.who.Home(), "work")} {
			if err := os.MkdirAll(d, 0o777); err != nil {
				s.t.Fatal(err)
			}
		}
		sc := &script{stage: s}
		testscript.RunT(serial{s.t}, testscript.Params{
			Dir: dir, WorkdirRoot: filepath.Join(s.who.Home(), "work"), RequireExplicitExec: true, RequireUniqueNames: true,
			Setup: sc.setup,
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"lnk": sc.lnk, "as": sc.as, "status": sc.wantStatus, "oneerror": sc.oneError, "hint": sc.hint,
			},
		})
	})
}

// serial is a test whose scripts take turns: they share the machine.
type serial struct{ *testing.T }

func (serial) Parallel()     {}
func (serial) Verbose() bool { return testing.Verbose() }
func (s serial) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(serial{t}) })
}

// layScripts writes the scripts, which are part of this program, where testscript finds them.
func layScripts(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(scripts, "testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		text, err := scripts.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// script is what the scripts' commands know of each other.
type script struct {
	*stage
	said   string
	status int
}

// setup gives the script's folder to whose turn it is, and starts without settings.
func (sc *script) setup(env *testscript.Env) error {
	env.Defer(func() {
		sc.checkLog()
		if err := os.RemoveAll(sc.who.Settings()); err != nil {
			sc.t.Error(err)
		}
	})
	env.Setenv("HOME", sc.who.Home())
	env.Setenv("SETTINGS", sc.who.Settings())
	env.Setenv("WHO", string(sc.who))
	return filepath.WalkDir(env.WorkDir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, sc.who.UID(), sc.who.UID())
	})
}

func (sc *script) lnk(ts *testscript.TestScript, neg bool, args []string) {
	sc.command(ts, neg, sc.who, append([]string{"lnk"}, args...))
}

func (sc *script) as(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: as root|ada|bob COMMAND…")
	}
	who := map[string]internet.User{"root": internet.Root, "ada": internet.Ada, "bob": internet.Rootless}[args[0]]
	sc.command(ts, neg, who, args[1:])
}

func (sc *script) command(ts *testscript.TestScript, neg bool, who internet.User, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := sc.Machine.Command(ctx, who, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"LNK_HOME"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	fmt.Fprint(ts.Stdout(), stdout.String())
	fmt.Fprint(ts.Stderr(), stderr.String())
	sc.said, sc.status = stderr.String(), internet.Status(cmd.ProcessState)
	ts.Logf("[%s: status %d]\n%s%s", who, sc.status, stdout.String(), stderr.String())
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		ts.Fatalf("%q doesn't end", args)
	case err != nil && !errors.As(err, &exit):
		ts.Fatalf("%q: %v", args, err)
	case err == nil && neg:
		ts.Fatalf("%q succeeded, and was to fail", args)
	case err != nil && !neg:
		ts.Fatalf("%q failed: %v", args, err)
	}
}

func (sc *script) wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if want, err := strconv.Atoi(strings.Join(args, "")); err != nil || want != sc.status {
		ts.Fatalf("want status %v, got %d", args, sc.status)
	}
}

func (sc *script) oneError(ts *testscript.TestScript, neg bool, args []string) {
	var found []string
	for line := range strings.Lines(sc.said) {
		if !strings.HasPrefix(line, "lnk: ") {
			ts.Fatalf("a line isn't lnk's: %q", line)
		}
		if text, is := strings.CutPrefix(line, "lnk: error: "); is {
			found = append(found, strings.TrimSpace(text))
		}
	}
	if len(found) != 1 {
		ts.Fatalf("%d lines begin with \"lnk: error:\", want one", len(found))
	}
	match(ts, found[0], args)
}

func (sc *script) hint(ts *testscript.TestScript, neg bool, args []string) {
	_, hint, _ := strings.Cut(sc.said, "lnk: hint: ")
	if hint == "" {
		ts.Fatalf("there is no hint")
	}
	match(ts, hint, args)
}

// match wants every one of the expressions to match.
func match(ts *testscript.TestScript, text string, args []string) {
	for _, arg := range args {
		if !regexp.MustCompile(arg).MatchString(text) {
			ts.Fatalf("%q doesn't match %q", text, arg)
		}
	}
}
