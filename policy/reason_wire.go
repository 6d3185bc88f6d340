package policy

// Reasons of ends rather than of verdicts: they stand on ended lines, and on the lines of calls that came to nothing.
const (
	ReasonClientGone   Reason = "the client went away"
	ReasonProgramEnded Reason = "the program ended"
)

// Counts reports whether a refusal for this reason says something of the program: those that the user's own stop or
// pause or the wire's limit caused do not count toward a pause.
func (r Reason) Counts() bool {
	switch r {
	case ReasonStopped, ReasonPaused, ReasonUnreadable, ReasonOverLimit, ReasonLogUnwritable, ReasonProgramEnded, "":
		return false
	}
	return true
}
