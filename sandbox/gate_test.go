package sandbox

import (
	"testing"
	"time"

	"lnk/control"
	"lnk/policy"
)

func TestVerdict(t *testing.T) {
	since := time.Date(2026, 11, 30, 4, 5, 6, 0, time.UTC)
	tests := map[string]struct {
		state control.State
		want  policy.Decision
	}{
		"open allows":             {control.State{Cause: control.CauseOpen}, policy.Decision{Allowed: true}},
		"nothing known is closed": {control.State{}, policy.Decision{Reason: policy.ReasonUnreadable}},
		"a cause of a later version is closed": {
			control.State{Cause: 200}, policy.Decision{Reason: policy.ReasonUnreadable}},
		"stopped says so": {control.State{Cause: control.CauseStopped}, policy.Decision{Reason: policy.ReasonStopped}},
		"paused says why, by whom and since when": {
			control.State{Cause: control.CausePaused, Why: "30 refusals", By: "the wire", Since: since},
			policy.Decision{Reason: policy.ReasonPaused, Detail: "30 refusals, by the wire, since 2026-11-30T04:05:06Z"}},
		"unreadable says what is": {
			control.State{Cause: control.CauseUnreadable, Why: "no folder"},
			policy.Decision{Reason: policy.ReasonUnreadable, Detail: "no folder"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := verdict(tt.state); got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestAGateWithoutFilesIsClosed(t *testing.T) {
	if d := (gate{}).Check(); d.Allowed || d.Reason != policy.ReasonUnreadable {
		t.Errorf("%+v", d)
	}
}

func TestNoRulesAllowNothing(t *testing.T) {
	var c currentRules
	name, err := policy.ParseName("a.example.org")
	if err != nil {
		t.Fatal(err)
	}
	if c.get().Mode() != policy.ModeNone || c.get().Lookup(name).Allowed {
		t.Error("the zero value allows something")
	}
}
