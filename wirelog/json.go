package wirelog

import (
	"encoding/json"

	"lnk/settings"
)

// recordJSON is a record's JSON form. Its field names are a promise to scripts: they don't change.
type recordJSON struct {
	Time    string        `json:"time"`
	Name    settings.Name `json:"name"`
	Verb    Verb          `json:"verb"`
	Target  Target        `json:"target"`
	Outcome Outcome       `json:"outcome"`
	Out     *int64        `json:"out,omitempty"` // with ended only
	In      *int64        `json:"in,omitempty"`  // with ended only
	Reason  string        `json:"reason,omitempty"`
	More    int           `json:"more,omitempty"`
}

// MarshalJSON gives an object with the fields time, name, verb, target and outcome, and, where they apply, out, in,
// reason and more.
func (r Record) MarshalJSON() ([]byte, error) {
	r = r.normal()
	j := recordJSON{
		Time: r.Time.Format(timeLayout), Name: r.Sandbox, Verb: r.Verb, Target: r.Target, Outcome: r.Outcome,
		Reason: r.Reason, More: r.More,
	}
	if r.Outcome == Ended {
		j.Out, j.In = &r.Out, &r.In
	}
	return json.Marshal(j)
}

// MarshalJSON is the record's form, or an object with the one field unreadable: the line's text, cleaned.
func (l Line) MarshalJSON() ([]byte, error) {
	if l.Err == nil {
		return json.Marshal(l.Record)
	}
	return json.Marshal(struct {
		Unreadable string `json:"unreadable"`
	}{l.Text})
}
