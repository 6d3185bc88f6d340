package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lnk/sandbox"
	"lnk/settings"
)

// app is the process as the commands see it.
type app struct {
	in, out, err *os.File
	getenv       func(string) string
	now          func() time.Time
}

func process() *app {
	return &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now}
}

// run carries out one command line and gives the status to exit with.
func run(args []string, a *app) int {
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	var silent exit
	if errors.As(err, &silent) {
		return int(silent)
	}
	text, hint := a.explain(err)
	a.say("lnk: error: " + text)
	if hint != "" {
		a.say("lnk: hint: " + hint)
	}
	return statusOf(err, cmd)
}

// say writes one line to the terminal. A program in raw mode may have it: the line begins and ends at the left all the same.
func (a *app) say(line string) {
	end := "\n"
	if isTerminal(a.err) {
		end = "\r\n"
	}
	io.WriteString(a.err, oneLine(line)+end)
}

// oneLine keeps what an error quotes from moving a terminal's cursor, or forging a second line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case r < ' ', r == 0x7f, 0x80 <= r && r < 0xa0, 0x200b <= r && r <= 0x200f, 0x2028 <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
			return '�'
		}
		return r
	}, strings.TrimRight(s, "\n"))
}

// home becomes the caller, where that isn't who the process runs as, and gives their settings.
func (a *app) home() (settings.Home, error) {
	caller, err := sandbox.Who(sandbox.ThisProcess(""))
	if err != nil {
		return settings.Home{}, err
	}
	if err := caller.Become(); err != nil {
		return settings.Home{}, err
	}
	return caller.Settings(a.getenv("LNK_HOME"))
}

// homeToWrite is home with its folders made: a gate without them counts as closed.
func (a *app) homeToWrite() (settings.Home, error) {
	home, err := a.home()
	if err != nil {
		return home, err
	}
	return home, home.Ensure()
}

// warn says what was wrong with some of many, and goes on.
func (a *app) warn(errs []error) {
	for _, err := range errs {
		a.say("lnk: warning: " + err.Error())
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }
