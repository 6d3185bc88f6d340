package wirelog

import (
	"iter"
	"testing"
)

// shown gives lines as a reader would.
func shown(records ...Record) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for _, r := range records {
			if !yield(Line{Record: r}, nil) {
				return
			}
		}
	}
}

func TestSummarizeCountsNoPause(t *testing.T) {
	api := HostPort("api.example.org", 443)
	got, err := Summarize(shown(
		Record{Verb: Connect, Target: api, Outcome: Refused},
		Record{Verb: Pause, Target: NameTarget("build"), Outcome: Refused, More: 4},
		Record{Verb: Pause, Target: NameTarget("build"), Outcome: Allowed},
	))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Targets) != 1 || got.Targets[0].Target != api {
		t.Errorf("targets %v, want the call's alone", got.Targets)
	}
	if got.Total.Calls() != 1 || got.Total.Refused != 1 {
		t.Errorf("total %+v, want one refused call", got.Total)
	}
	if got.LeftOut[Refused] != 4 {
		t.Errorf("left out %v, want the 4 refusals that the pause's line told of", got.LeftOut)
	}
}
