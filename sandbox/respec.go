package sandbox

import (
	"fmt"
	"slices"

	"lnk/policy"
)

// specChanged reads the spec again. If it can't hold, the last good one still does, and that is said: to stop everything because of a
// slip in an editor would teach people not to touch a spec while something runs; there is a switch for that.
func (s *service) specChanged() {
	r := s.run
	now, err := r.source.readAgain(r.home)
	if err == nil && now.Mode() == policy.ModeHost {
		err = fmt.Errorf("mode %s can't be entered while it runs", policy.ModeHost)
	}
	if err != nil {
		r.tell(SpecKept{Path: r.source.path, Err: err})
		return
	}
	later := slices.ContainsFunc(now.Rules().Ports(), func(p uint16) bool { return !slices.Contains(r.spec.Rules().Ports(), p) })
	r.rules.set(now.Rules())
	s.wire.Recheck()
	if err := r.claim.update(func(rec *Running) { rec.describe(now) }); err != nil {
		r.tell(LogTrouble{err.Error()})
	}
	r.tell(SpecChanged{Path: r.source.path, Network: now.Describe(), Later: later})
}
