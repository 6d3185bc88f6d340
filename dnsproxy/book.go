package dnsproxy

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"lnk/policy"
)

// DefaultBookSize is how many pairs of a name and an address a book holds.
const DefaultBookSize = 1 << 16

// The most that one side of the book holds of the other, so that one name or address can't make a look-up slow: a content network's
// name has been given some hundred addresses, one address of it some hundred names.
const (
	maxAddrsOfName = 4096
	maxNamesOfAddr = 1024
)

// Book is a sandbox's address book: which names each address was given for, and which refusal address stands for which refused
// name. It is safe for use from many goroutines.
type Book struct {
	mu       sync.Mutex
	max      int
	pairs    map[pairKey]*pair
	byAddr   map[netip.Addr]*names
	byName   map[policy.Name]*addrs
	used     pairList // the latest used first
	dropped  atomic.Uint64
	refusals refusals
}

type pairKey struct {
	name policy.Name
	addr netip.Addr
}

// names are the names an address was given for, addrs the addresses a name was given; the latest given first.
type (
	names struct {
		pairs pairList
		flat  []policy.Name // the list as callers see it, never changed; nil when it has to be made again
	}
	addrs struct{ pairs pairList }
)

// NewBook makes a book of at most max pairs of a name and an address; 0 or less means DefaultBookSize. The pair that was
// longest unused makes room for a new one.
func NewBook(max int) *Book {
	if max <= 0 {
		max = DefaultBookSize
	}
	return &Book{
		max:      max,
		pairs:    make(map[pairKey]*pair),
		byAddr:   make(map[netip.Addr]*names),
		byName:   make(map[policy.Name]*addrs),
		used:     pairList{which: byUse},
		refusals: newRefusals(),
	}
}

// Learn remembers that name was answered with these addresses. The room's own addresses and the refusal addresses are left out: what
// they stand for is never a resolver's to say.
func (b *Book) Learn(name policy.Name, addresses ...netip.Addr) {
	if name.IsZero() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(addresses) - 1; i >= 0; i-- { // the first of an answer becomes the latest
		if a := plain(addresses[i]); a.IsValid() && !ours(a) {
			b.learn(pairKey{name, a})
		}
	}
}

// plain is an address as the book keeps it.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// ours reports whether an address means something of its own in the room.
func ours(a netip.Addr) bool {
	switch a {
	case policy.RoomAddr4, policy.RoomAddr6, policy.NameServer, policy.MachineAddr, policy.ProxyAddr:
		return true
	}
	return policy.IsRefusalAddr(a)
}

func (b *Book) learn(k pairKey) {
	if p := b.pairs[k]; p != nil {
		b.used.toFront(p)
		p.ofName.pairs.toFront(p)
		if p.ofAddr.pairs.first != p {
			p.ofAddr.pairs.toFront(p)
			p.ofAddr.flat = nil
		}
		return
	}
	b.makeRoom(k)
	p := &pair{pairKey: k, ofAddr: b.byAddr[k.addr], ofName: b.byName[k.name]}
	if p.ofAddr == nil {
		p.ofAddr = &names{pairs: pairList{which: byAddr}}
		b.byAddr[k.addr] = p.ofAddr
	}
	if p.ofName == nil {
		p.ofName = &addrs{pairs: pairList{which: byName}}
		b.byName[k.name] = p.ofName
	}
	b.pairs[k] = p
	b.used.pushFront(p)
	p.ofName.pairs.pushFront(p)
	p.ofAddr.pairs.pushFront(p)
	p.ofAddr.flat = nil
}

// makeRoom drops what a new pair displaces.
func (b *Book) makeRoom(k pairKey) {
	if n := b.byAddr[k.addr]; n != nil && n.pairs.len == maxNamesOfAddr {
		b.drop(n.pairs.last)
	}
	if a := b.byName[k.name]; a != nil && a.pairs.len == maxAddrsOfName {
		b.drop(a.pairs.last)
	}
	if len(b.pairs) == b.max {
		b.drop(b.used.last)
	}
}

func (b *Book) drop(p *pair) {
	b.dropped.Add(1)
	delete(b.pairs, p.pairKey)
	b.used.remove(p)
	p.ofAddr.pairs.remove(p)
	p.ofAddr.flat = nil
	if p.ofAddr.pairs.len == 0 {
		delete(b.byAddr, p.addr)
	}
	p.ofName.pairs.remove(p)
	if p.ofName.pairs.len == 0 {
		delete(b.byName, p.name)
	}
}

// Names are the names that an address was given for, the latest first, or the one name that a refusal address stands for. It counts as a
// use. The slice is shared: it must not be changed.
func (b *Book) Names(a netip.Addr) []policy.Name {
	a = plain(a)
	if policy.IsRefusalAddr(a) {
		return b.refusals.names(a)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.byAddr[a]
	if n == nil {
		return nil
	}
	if n.flat == nil {
		n.flat = make([]policy.Name, 0, n.pairs.len)
		for p := n.pairs.first; p != nil; p = n.pairs.after(p) {
			n.flat = append(n.flat, p.name)
		}
	}
	for p := n.pairs.first; p != nil; p = n.pairs.after(p) {
		b.used.toFront(p)
	}
	return n.flat
}

// Addrs are the addresses that were given for a name, the latest first. It counts as a use.
func (b *Book) Addrs(name policy.Name) []netip.Addr {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.byName[name]
	if l == nil {
		return nil
	}
	all := make([]netip.Addr, 0, l.pairs.len)
	for p := l.pairs.first; p != nil; p = l.pairs.after(p) {
		all = append(all, p.addr)
		b.used.toFront(p)
	}
	return all
}

// Refusal returns the refusal addresses that stand for a name, the same ones each time.
func (b *Book) Refusal(name policy.Name) (v4, v6 netip.Addr) { return b.refusals.of(name) }

// drops counts the pairs that were ever dropped: while it stands still, whatever was learnt is still known.
func (b *Book) drops() uint64 { return b.dropped.Load() }
