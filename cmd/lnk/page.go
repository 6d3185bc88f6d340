package main

import (
	"strconv"

	"lnk/wirelog"
)

// page lays log lines out in columns. A column is as wide as the widest cell so far, up to a limit: what goes beyond that
// pushes its own line out, and no other.
type page struct {
	colours      bool
	name, target int // widths
	buf          []byte
}

const (
	verbWidth    = len("connect")
	outcomeWidth = len("allowed")
	maxName      = 24
	maxTarget    = 48
)

func newPage(colours bool) *page { return &page{colours: colours, name: 10, target: 28} }

// Colours of the outcomes (ECMA-48, select graphic rendition).
var colours = map[wirelog.Outcome]string{
	wirelog.Allowed: "\x1b[32m", wirelog.Ended: "\x1b[2m", wirelog.Refused: "\x1b[31m", wirelog.Failed: "\x1b[33m",
}

const plainAgain = "\x1b[0m"

// line is a line of the log with its end. It is good until the next.
func (p *page) line(l wirelog.Line) []byte {
	b := p.buf[:0]
	if l.Err != nil {
		b = append(append(append(b, "?? "...), l.Text...), '\n') // Text is safe to show
		p.buf = b
		return b
	}
	r := l.Record
	p.name = max(p.name, min(len(r.Sandbox), maxName))
	p.target = max(p.target, min(len(r.Target.String()), maxTarget))
	b = r.Time.AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = cell(b, string(r.Sandbox), p.name)
	b = cell(b, string(r.Verb), verbWidth)
	b = cell(b, r.Target.String(), p.target)
	b = p.outcome(b, r.Outcome)
	b = p.rest(b, r)
	p.buf = append(b, '\n')
	return p.buf
}

func (p *page) outcome(b []byte, o wirelog.Outcome) []byte {
	if !p.colours {
		return append(append(b, ' '), o...)
	}
	b = append(append(b, ' '), colours[o]...)
	return append(append(b, o...), plainAgain...)
}

// rest is what stands behind the outcome: bytes, the reason, what was left out.
func (p *page) rest(b []byte, r wirelog.Record) []byte {
	if pad := outcomeWidth - len(r.Outcome); pad > 0 && (r.Outcome == wirelog.Ended || r.Reason != "" || r.More > 0) {
		b = append(b, "       "[:pad]...)
	}
	if r.Outcome == wirelog.Ended {
		b = append(strconv.AppendInt(append(b, ' '), r.Out, 10), " out "...)
		b = append(strconv.AppendInt(b, r.In, 10), " in"...)
	}
	if r.Reason != "" {
		b = append(append(append(b, " ("...), r.Reason...), ')')
	}
	if r.More > 0 {
		b = strconv.AppendInt(append(b, " (and "...), int64(r.More), 10)
		b = append(append(append(b, " more "...), r.Outcome...), " since)"...)
	}
	return b
}

// cell is a space and a text, filled up with spaces.
func cell(b []byte, text string, width int) []byte {
	b = append(append(b, ' '), text...)
	for range width - len(text) {
		b = append(b, ' ')
	}
	return b
}
