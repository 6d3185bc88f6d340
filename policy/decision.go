package policy

// Decision is a verdict and why. The zero value denies.
type Decision struct {
	Allowed bool
	Reason  Reason // set on every refusal; empty where allowed
	Rule    string // the endpoint or rule that decided, in normal form; may be empty
	Name    Name   // the name under which a connection was allowed; zero for a bare address
	Detail  string // more for a person (why and since when a sandbox is paused); never logged
}
