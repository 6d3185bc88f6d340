package control

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxNote is how much of a mark's text is read, in octets. What this package writes is shorter.
const maxNote = 4096

// maxLine is how long a reason or a name in a note may be, in characters.
const maxLine = 300

// note is what a mark says of itself. Every part may be missing: a person may have made the mark with touch.
type note struct {
	why, by string
	since   time.Time
}

// text is the note as a file: three lines that a person reads as easily as parseNote.
func (n note) text() string {
	return "why: " + clean(n.why) + "\nby: " + clean(n.by) + "\nsince: " + n.since.UTC().Format(time.RFC3339Nano) + "\n"
}

// parseNote reads a mark's text. Text of another form, written by hand, is the reason as it stands.
func parseNote(text string) note {
	var n note
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "why":
			n.why = clean(value)
		case "by":
			n.by = clean(value)
		case "since":
			n.since, _ = time.Parse(time.RFC3339Nano, value)
		default:
			if n.why == "" {
				n.why = clean(line)
			}
		}
	}
	return n
}

// clean makes s one line of at most maxLine characters that can't repaint a terminal: what isn't printable (control,
// format and bidirectional characters, invalid UTF-8) becomes a question mark. A reason may hold a name that a sandbox
// chose.
func clean(s string) string {
	var b strings.Builder
	count := 0
	for _, r := range s {
		if count++; count > maxLine {
			break
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cleanLines cleans each line of s.
func cleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = clean(line)
	}
	return strings.Join(lines, "\n")
}
