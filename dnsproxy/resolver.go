package dnsproxy

import (
	"context"
	"net/netip"

	"lnk/policy"
)

// Resolver asks the machine's own resolver. It is safe for use from many goroutines.
type Resolver struct{}

// ResolverConfig says where the machine's own settings are.
type ResolverConfig struct {
	ResolvConf string // path of the machine's resolv.conf; empty means /etc/resolv.conf
	Hosts      string // path of the machine's hosts file; empty means /etc/hosts
}

// NewResolver makes a resolver; it reads the files when they are first needed, and again when they change.
func NewResolver(c ResolverConfig) *Resolver { return &Resolver{} }

// Resolve returns the addresses of a name, IPv6 and IPv4: from the hosts file, or as fresh as their TTL says. It judges nothing:
// an allowed check comes before it. An error is a *LookupError.
func (r *Resolver) Resolve(ctx context.Context, name policy.Name) ([]netip.Addr, error) {
	return nil, &LookupError{Name: name, Kind: NoAnswer}
}

// Close closes the sockets that are kept for reuse.
func (r *Resolver) Close() error { return nil }

// LookupKind is why a name has no address. The zero value is NoAnswer.
type LookupKind uint8

// The kinds of a LookupError.
const (
	NoAnswer   LookupKind = iota // no resolver answered, or none could
	NoSuchName                   // the name doesn't exist
	NoAddress                    // the name exists and has no address
)

// LookupError is a lookup that gave no address.
type LookupError struct {
	Name policy.Name
	Kind LookupKind
	Err  error // what went wrong; may be nil
}

func (e *LookupError) Error() string { return "looking up a name" }

// Unwrap returns what went wrong.
func (e *LookupError) Unwrap() error { return e.Err }
