package policy

// Reason is one of a closed list of fixed sentences; it stands in the log and in a refusal's words.
type Reason string

// Why a call is refused.
const (
	ReasonNotAllowed        Reason = "not an allowed endpoint"
	ReasonNameNotAllowed    Reason = "its name is not an allowed endpoint"
	ReasonAddressNotAllowed Reason = "its address is not an allowed endpoint"
	ReasonShownNotAllowed   Reason = "the name it shows is not allowed"
	ReasonPortNotAllowed    Reason = "this machine's port is not allowed"
	ReasonPrivate           Reason = "a private address that is not named exactly"
	ReasonLinkLocal         Reason = "a link-local address"
	ReasonMulticast         Reason = "a multicast address"
	ReasonBroadcast         Reason = "a broadcast address"
	ReasonReserved          Reason = "a reserved address"
	ReasonUnclassified      Reason = "an address of unknown kind"
	ReasonMetadata          Reason = "a cloud's metadata service"
	ReasonFixedName         Reason = "a name that no name server is asked about"
	ReasonStopped           Reason = "every sandbox is stopped"
	ReasonPaused            Reason = "the sandbox is paused"
	ReasonUnreadable        Reason = "paused, since its settings can't be read"
	ReasonOverLimit         Reason = "over the limit of calls"
	ReasonMalformed         Reason = "malformed"
	ReasonNoOriginal        Reason = "its original destination can't be read"
	ReasonSelf              Reason = "a call to the wire itself"
	ReasonSilent            Reason = "it showed no name in time"
	ReasonNoNetwork         Reason = "the sandbox has no network"
	ReasonHostNetwork       Reason = "the network is the machine's own, without a wire"
	ReasonLogUnwritable     Reason = "the log can't be written"
)

// Why an allowed call came to nothing.
const (
	ReasonNoSuchName  Reason = "no such name"
	ReasonNoAnswer    Reason = "no answer from the name server"
	ReasonConnRefused Reason = "connection refused"
	ReasonTimedOut    Reason = "timed out"
	ReasonUnreachable Reason = "unreachable"
	ReasonDialFailed  Reason = "it couldn't be dialled"
	ReasonReset       Reason = "reset"
)

// Reasons is the whole list.
func Reasons() []Reason { return append([]Reason(nil), reasons...) }

var reasons = []Reason{
	ReasonNotAllowed, ReasonNameNotAllowed, ReasonAddressNotAllowed, ReasonShownNotAllowed, ReasonPortNotAllowed,
	ReasonPrivate, ReasonLinkLocal, ReasonMulticast, ReasonBroadcast, ReasonReserved, ReasonUnclassified, ReasonMetadata,
	ReasonFixedName, ReasonStopped, ReasonPaused, ReasonUnreadable, ReasonOverLimit, ReasonMalformed, ReasonNoOriginal,
	ReasonSelf, ReasonSilent, ReasonNoNetwork, ReasonHostNetwork, ReasonLogUnwritable,
	ReasonNoSuchName, ReasonNoAnswer, ReasonConnRefused, ReasonTimedOut, ReasonUnreachable, ReasonDialFailed, ReasonReset,
	ReasonClientGone, ReasonProgramEnded,
}

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
