package sandbox

import (
	"strings"
	"time"

	"lnk/control"
	"lnk/policy"
	"lnk/wirelog"
)

// gate lets the wire and the names ask whether anything may pass. The zero value is closed.
type gate struct {
	files    *control.Gate
	required *wirelog.Log // where the spec requires the log: nothing passes unwritten; nil otherwise
}

// Check looks at the settings' files, each time. A log that couldn't be written is tried again with the line of each refusal.
func (g gate) Check() policy.Decision {
	if g.files == nil {
		return policy.Decision{Reason: policy.ReasonUnreadable}
	}
	if d := verdict(g.files.Look()); !d.Allowed || g.required == nil || g.required.Writable() {
		return d
	}
	return policy.Decision{Reason: policy.ReasonLogUnwritable}
}

// verdict is a state of the gate as a decision. Whatever isn't known to be open is closed.
func verdict(s control.State) policy.Decision {
	switch s.Cause {
	case control.CauseOpen:
		return policy.Decision{Allowed: true}
	case control.CauseStopped:
		return policy.Decision{Reason: policy.ReasonStopped, Detail: detail(s)}
	case control.CausePaused:
		return policy.Decision{Reason: policy.ReasonPaused, Detail: detail(s)}
	}
	return policy.Decision{Reason: policy.ReasonUnreadable, Detail: detail(s)}
}

// detail is why, who and since when, as far as it is known.
func detail(s control.State) string {
	var parts []string
	if s.Why != "" {
		parts = append(parts, s.Why)
	}
	if s.By != "" {
		parts = append(parts, "by "+s.By)
	}
	if !s.Since.IsZero() {
		parts = append(parts, "since "+s.Since.UTC().Format(time.RFC3339))
	}
	return strings.Join(parts, ", ")
}
