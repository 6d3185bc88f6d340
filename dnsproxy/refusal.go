package dnsproxy

import (
	"encoding/binary"
	"hash/fnv"
	"net/netip"
	"sync"
	"time"

	"lnk/policy"
)

// Refusal addresses are numbered: number n is the n-th address of the IPv4 range, and n+1 in the IPv6 one. A name's number comes
// from its hash, so that the same name has the same address in every sandbox and run, as long as no other took it first.
//
// A client may keep an address for longer than its TTL. If the number were soon another name's, a call meant for the first name would be
// taken for one to the second, which matters once the rules allow that one. So a number that was used within
// the last hour is never given away, and the names that then find none share one address that stands for no name at all.
const (
	maxRefusals   = 1 << 15
	refusalProbes = 64
	refusalHold   = time.Hour // how long a number stays with its name after its last use
)

// refusalNumbers is how many numbers there are; the last one is the address that stands for no name.
var refusalNumbers = binary4(policy.RefusalLast4) - binary4(policy.RefusalFirst4) + 1

func binary4(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

// refusals remembers which number stands for which refused name.
type refusals struct {
	mu     sync.Mutex
	now    func() time.Time
	byName map[policy.Name]uint32
	slots  map[uint32]*refusalSlot
}

type refusalSlot struct {
	name []policy.Name // one
	used time.Time
}

func newRefusals() refusals {
	return refusals{now: time.Now, byName: make(map[policy.Name]uint32), slots: make(map[uint32]*refusalSlot)}
}

// of returns the addresses that stand for a name.
func (r *refusals) of(name policy.Name) (v4, v6 netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	n, ok := r.byName[name]
	if !ok {
		n = r.take(name, now)
	}
	if s := r.slots[n]; s != nil {
		s.used = now
	}
	return refusalAddrs(n)
}

// take finds a number for a new name.
func (r *refusals) take(name policy.Name, now time.Time) uint32 {
	nameless := refusalNumbers - 1
	if name.IsZero() {
		return nameless
	}
	h := fnv.New64a()
	h.Write([]byte(name.String()))
	first := h.Sum64()
	for i := range uint64(refusalProbes) {
		n := uint32((first + i) % uint64(nameless))
		if r.free(n, now) {
			r.byName[name] = n
			r.slots[n] = &refusalSlot{name: []policy.Name{name}}
			return n
		}
	}
	return nameless
}

// free reports whether a number may be given to a new name, and takes it from the name it stood for.
func (r *refusals) free(n uint32, now time.Time) bool {
	s := r.slots[n]
	if s == nil {
		return len(r.slots) < maxRefusals
	}
	if now.Sub(s.used) < refusalHold {
		return false
	}
	delete(r.byName, s.name[0])
	return true
}

// names are the name that a refusal address stands for. It counts as a use.
func (r *refusals) names(a netip.Addr) []policy.Name {
	n, ok := refusalNumber(a)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.slots[n]
	if s == nil {
		return nil
	}
	s.used = r.now()
	return s.name
}

func refusalAddrs(n uint32) (v4, v6 netip.Addr) {
	var b4 [4]byte
	binary.BigEndian.PutUint32(b4[:], binary4(policy.RefusalFirst4)+n)
	b16 := policy.RefusalPrefix6.Addr().As16()
	binary.BigEndian.PutUint64(b16[8:], uint64(n)+1)
	return netip.AddrFrom4(b4), netip.AddrFrom16(b16)
}

func refusalNumber(a netip.Addr) (uint32, bool) {
	if a.Is4() {
		return binary4(a) - binary4(policy.RefusalFirst4), true
	}
	b := a.As16()
	n := binary.BigEndian.Uint64(b[8:]) - 1
	return uint32(n), n < uint64(refusalNumbers)
}
