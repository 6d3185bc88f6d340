package wirelog

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// mark stands where something was cut. No sandbox can write one: what it asks for is shown as it is only where it is
// ASCII.
const mark = "…"

// maxTarget is how many characters of a target are shown, the mark of a cut among them.
const maxTarget = 300

// alphabet is the set of ASCII characters that a text keeps as they are.
type alphabet [128]bool

// keeping is the printable ASCII characters but those in without.
func keeping(without string) *alphabet {
	var a alphabet
	for c := byte(' '); c <= '~'; c++ {
		a[c] = strings.IndexByte(without, c) < 0
	}
	return &a
}

var (
	// A target is one word of a line: no space, nothing that quotes or brackets a word, nothing that begins a path, a
	// query, a fragment or ends a user's name. A backslash begins an escape.
	inTarget = keeping(" \"'`()\\/?#@")
	// A reason stands between parentheses.
	inReason = keeping("()")
	inText   = keeping("")
)

// Clean makes a text that anybody may have written safe to show on one line of a terminal: printable ASCII stays as it
// is, everything else (controls, escapes, letters of any other script, bidirectional and invisible characters, invalid
// UTF-8) is spelled out, and what is beyond 1,000 characters is cut. What it returns it would leave as it is.
func Clean(text string) string { return clean(text, inText, 1000) }

// clean keeps the characters of the alphabet and the mark, spells out all others, and cuts the whole to max characters.
// Why all of Unicode is spelled out: a name on the wire is ASCII (RFC 5890's A-labels), so anything else was never one;
// and the letters that look like others, run from right to left, are invisible, combine or are twice as wide are too
// many, and change with each version of Unicode.
func clean(text string, keep *alphabet, max int) string {
	if plain(text, keep) && len(text) <= max {
		return text
	}
	var out []byte
	count, fit := 0, 0 // characters in out; octets of out that leave room for a mark
	for len(text) > 0 {
		unit, size := spell(text, keep)
		if count += utf8.RuneCountInString(unit); count > max {
			return string(out[:fit]) + mark
		}
		out = append(out, unit...)
		if count < max {
			fit = len(out)
		}
		text = text[size:]
	}
	return string(out)
}

func plain(text string, keep *alphabet) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || !keep[c] {
			return false
		}
	}
	return true
}

// spell is how the first character of text is shown, and how many octets it takes there.
func spell(text string, keep *alphabet) (string, int) {
	c, size := utf8.DecodeRuneInString(text)
	switch {
	case c == utf8.RuneError && size == 1:
		return hex(text[0]), 1
	case c < utf8.RuneSelf && keep[c], text[:size] == mark && keep != inTarget:
		return text[:size], size
	case c == '\\':
		return `\\`, 1
	case c < utf8.RuneSelf:
		return hex(byte(c)), 1
	}
	return `\u{` + strconv.FormatInt(int64(c), 16) + `}`, size
}

func hex(c byte) string {
	const digits = "0123456789abcdef"
	return `\x` + string([]byte{digits[c>>4], digits[c&15]})
}
