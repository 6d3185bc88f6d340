package wirelog

// Target is what a call was for, in a form that is safe in a line and on a terminal: at most 300 characters, no
// space, no quote, no parenthesis, nothing but printable ASCII and the mark of a cut. Only the functions below make one, and none takes a
// request. The zero value is written "-".
type Target struct{ s string }

// HostPort is a host, a name or an address, and a port.
func HostPort(host string, port uint16) Target { panic("being written") }

// PortTarget is a port of this machine.
func PortTarget(port uint16) Target { panic("being written") }

// NameTarget is a name alone: one looked up, or a provider's.
func NameTarget(name string) Target { panic("being written") }

// String is the target as the log has it.
func (t Target) String() string { panic("being written") }
