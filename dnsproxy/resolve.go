package dnsproxy

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"lnk/policy"
)

// otherFamily is how long the addresses of one family wait for those of the other (RFC 8305 section 3): a server that
// doesn't answer about one of them must not hold up the call.
const otherFamily = 100 * time.Millisecond

// Resolve returns the addresses of a name in the order to try them, IPv6 and IPv4 in turn: from the hosts file, or as fresh
// as their TTL says. An error is a *LookupError. Names that no one is asked about have no address here, localhost excepted.
func (r *Resolver) Resolve(ctx context.Context, name policy.Name) ([]netip.Addr, error) {
	if fixed, ok := policy.Fixed(name); ok {
		return own(name, fixed.Addrs)
	}
	if _, ok := policy.MetadataName(name); ok || name.IsZero() {
		return nil, &LookupError{Name: name, Kind: NoSuchName}
	}
	if addrs, ok := r.known(name, r.now()); ok {
		return inTurn(addrs), nil
	}
	return r.resolve(ctx, name)
}

// own is the loopback addresses of localhost; the room's addresses mean nothing on this side.
func own(name policy.Name, addrs []netip.Addr) ([]netip.Addr, error) {
	var loopback []netip.Addr
	for _, a := range addrs {
		if a.IsLoopback() {
			loopback = append(loopback, a)
		}
	}
	if loopback == nil {
		return nil, &LookupError{Name: name, Kind: NoSuchName}
	}
	return inTurn(loopback), nil
}

type familyResult struct {
	a   *answer
	err error
}

// resolve asks about both families at once.
func (r *Resolver) resolve(ctx context.Context, name policy.Name) ([]netip.Addr, error) {
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan familyResult, 2)
	left := 2
	defer func() {
		cancel()
		for ; left > 0; left-- {
			<-results
		}
	}()
	for _, qtype := range []uint16{dns.TypeAAAA, dns.TypeA} {
		go func() {
			a, err := r.answer(ctx, question{name: name, qtype: qtype})
			results <- familyResult{a, err}
		}()
	}
	var all []netip.Addr
	var failed *LookupError
	var late <-chan time.Time
	for left > 0 {
		select {
		case res := <-results:
			left--
			all, failed = res.add(name, all, failed)
		case <-late:
			return inTurn(all), nil
		}
		if len(all) > 0 && late == nil {
			late = time.After(otherFamily)
		}
	}
	if len(all) == 0 {
		return nil, failed
	}
	return inTurn(all), nil
}

// add adds one family's addresses, or why it has none. That a name doesn't exist is the whole truth about it; that it has no address is one
// only if both families say so.
func (f familyResult) add(name policy.Name, all []netip.Addr, failed *LookupError) ([]netip.Addr, *LookupError) {
	e := &LookupError{Name: name, Kind: NoAnswer, Err: f.err}
	switch {
	case f.err != nil:
	case len(f.a.addrs) > 0:
		return append(all, f.a.addrs...), failed
	case f.a.rcode == dns.RcodeNameError:
		e.Kind = NoSuchName
	case f.a.rcode == dns.RcodeSuccess:
		e.Kind = NoAddress
	default:
		e.Err = fmt.Errorf("the name server answered %s", dns.RcodeToString[f.a.rcode])
	}
	if failed == nil || failed.Kind == NoAddress || e.Kind == NoSuchName {
		failed = e
	}
	return all, failed
}

// inTurn orders addresses so that the families take turns, IPv6 first (RFC 8305 section 4).
func inTurn(addrs []netip.Addr) []netip.Addr {
	var v4, v6 []netip.Addr
	for _, a := range addrs {
		if a.Is4() {
			v4 = append(v4, a)
		} else {
			v6 = append(v6, a)
		}
	}
	all := make([]netip.Addr, 0, len(addrs))
	for len(v6) > 0 || len(v4) > 0 {
		if len(v6) > 0 {
			all, v6 = append(all, v6[0]), v6[1:]
		}
		if len(v4) > 0 {
			all, v4 = append(all, v4[0]), v4[1:]
		}
	}
	return all
}

// LookupKind is why a name has no address. The zero value is NoAnswer.
type LookupKind uint8

// The kinds of a LookupError.
const (
	NoAnswer   LookupKind = iota // no name server answered, or none could
	NoSuchName                   // the name doesn't exist
	NoAddress                    // the name exists and has no address
)

// LookupError is a lookup that gave no address.
type LookupError struct {
	Name policy.Name
	Kind LookupKind
	Err  error // what went wrong; may be nil
}

// Error says which name it was and why.
func (e *LookupError) Error() string {
	why := "no answer"
	switch e.Kind {
	case NoSuchName:
		why = "no such name"
	case NoAddress:
		why = "no address"
	}
	if e.Err != nil {
		return fmt.Sprintf("looking up %s: %s: %v", e.Name, why, e.Err)
	}
	return fmt.Sprintf("looking up %s: %s", e.Name, why)
}

// Unwrap returns what went wrong.
func (e *LookupError) Unwrap() error { return e.Err }

// gaveUp reports whether an error only says that whoever asked gave up.
func gaveUp(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
