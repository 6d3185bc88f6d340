package wirelog

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"lnk/settings"
)

// timeLayout is RFC 3339 in UTC with milliseconds, always 24 characters.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Format is the record as a line, with its newline:
//
//	TIME NAME VERB TARGET OUTCOME[ N out N in][ (REASON)][ (and N more OUTCOME since)]
func Format(r Record) string { return string(appendLine(nil, r)) }

func appendLine(b []byte, r Record) []byte {
	r = r.normal()
	b = r.Time.AppendFormat(b, timeLayout)
	name := r.Sandbox
	if name == "" {
		name = "-"
	}
	for _, word := range [...]string{string(name), string(r.Verb), r.Target.String(), string(r.Outcome)} {
		b = append(append(b, ' '), word...)
	}
	if r.Outcome == Ended {
		b = append(strconv.AppendInt(append(b, ' '), r.Out, 10), " out"...)
		b = append(strconv.AppendInt(append(b, ' '), r.In, 10), " in"...)
	}
	if r.Reason != "" {
		b = append(append(append(b, " ("...), r.Reason...), ')')
	}
	if r.More > 0 {
		b = strconv.AppendInt(append(b, " (and "...), int64(r.More), 10)
		b = append(append(append(b, " more "...), r.Outcome...), " since)"...)
	}
	return append(b, '\n')
}

// String is the record as a line, without its newline.
func (r Record) String() string { return strings.TrimSuffix(Format(r), "\n") }

// Parse reads a line that Format made, with or without its newline, and nothing else: to format what it returns gives
// the same line again.
func Parse(line string) (Record, error) {
	p := parser{rest: strings.TrimSuffix(line, "\n")}
	r := Record{
		Time:    p.time(),
		Sandbox: p.name(),
		Verb:    oneOf(&p, verbs, "verb"),
		Target:  p.target(),
		Outcome: oneOf(&p, outcomes, "outcome"),
	}
	if r.Outcome == Ended {
		r.Out = p.count("out")
		r.In = p.count("in")
	}
	r.Reason, r.More = p.notes(r.Outcome)
	if p.err != "" {
		return Record{}, errors.New("reading a log line: " + p.err)
	}
	return r, nil
}

// parser takes a line apart from its left. Its first error stays; after it every step does nothing.
type parser struct {
	rest string
	err  string
}

func (p *parser) fail(err string) {
	if p.err == "" {
		p.err = err
	}
	p.rest = ""
}

func (p *parser) word() string {
	w, rest, more := strings.Cut(p.rest, " ")
	if more && rest == "" {
		p.fail("a space at the end")
	}
	p.rest = rest
	return w
}

func (p *parser) time() time.Time {
	w := p.word()
	if !timeShaped(w) {
		p.fail("no time")
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, w) // the layout that package time reads fastest
	if err != nil || t.Before(firstTime) {
		p.fail("no time")
	}
	return t
}

func timeShaped(s string) bool {
	return len(s) == len(timeLayout) && s[10] == 'T' && s[19] == '.' && s[23] == 'Z'
}

func (p *parser) name() settings.Name {
	w := p.word()
	if w == "-" {
		return ""
	}
	for i := range len(w) {
		if !inName[w[i]] {
			p.fail("no sandbox's name")
		}
	}
	if w == "" || len(w) > settings.MaxName {
		p.fail("no sandbox's name")
	}
	return settings.Name(w)
}

func oneOf[T ~string](p *parser, list []T, what string) T {
	w := T(p.word())
	if i := slices.Index(list, w); i >= 0 {
		return list[i]
	}
	p.fail("no known " + what)
	return w
}

func (p *parser) target() Target {
	t, ok := parseTarget(p.word())
	if !ok {
		p.fail("no target")
	}
	return t
}

func (p *parser) count(unit string) int64 {
	n, ok := number(p.word())
	if !ok || p.word() != unit {
		p.fail("no bytes " + unit)
	}
	return n
}

// notes reads what stands in parentheses at the end: a reason, how many were left out, both in this order, or nothing.
func (p *parser) notes(o Outcome) (reason string, more int) {
	first, second, both := strings.Cut(p.rest, ") (")
	if p.rest == "" {
		return "", 0
	}
	if !both {
		first = strings.TrimSuffix(first, ")")
	}
	first, open := strings.CutPrefix(first, "(")
	if !open || !strings.HasSuffix(p.rest, ")") {
		p.fail("neither reason nor end")
		return "", 0
	}
	if !both {
		if n, is := parseMore(first, o); is {
			return "", n
		}
	} else if n, is := parseMore(strings.TrimSuffix(second, ")"), o); is {
		more = n
	} else {
		p.fail("no count of those left out")
	}
	if first == "" || normalReason(first, o) != first {
		p.fail("no reason")
	}
	return first, more
}

// parseMore reads "and N more OUTCOME since".
func parseMore(s string, o Outcome) (int, bool) {
	s, and := strings.CutPrefix(s, "and ")
	s, since := strings.CutSuffix(s, " since")
	digits, outcome, _ := strings.Cut(s, " more ")
	n, ok := number(digits)
	return int(n), and && since && ok && n > 0 && outcome == string(o)
}

// number reads a count as strconv writes it, without sign or leading zero.
func number(s string) (int64, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
