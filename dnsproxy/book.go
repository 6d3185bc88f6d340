package dnsproxy

import (
	"net/netip"

	"lnk/policy"
)

// Book is a sandbox's address book: which names each address was given for, and which refusal address stands for which refused
// name. It is safe for use from many goroutines.
type Book struct{}

// NewBook makes a book of at most max pairs of a name and an address; 0 or less means DefaultBookSize. The pair that was
// longest unused makes room for a new one.
func NewBook(max int) *Book { return &Book{} }

// Learn remembers that name was answered with these addresses.
func (b *Book) Learn(name policy.Name, addrs ...netip.Addr) {}

// Names are the names that an address was given for, the latest first, or the one name that a refusal address stands for. It counts as a
// use. The slice is shared: it must not be changed.
func (b *Book) Names(a netip.Addr) []policy.Name { return nil }

// Addrs are the addresses that were given for a name, the latest first. It counts as a use.
func (b *Book) Addrs(name policy.Name) []netip.Addr { return nil }

// Refusal returns the refusal addresses that stand for a name, the same ones each time.
func (b *Book) Refusal(name policy.Name) (v4, v6 netip.Addr) { return }
