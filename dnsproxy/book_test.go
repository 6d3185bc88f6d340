package dnsproxy

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"lnk/policy"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func TestBook(t *testing.T) {
	git, db := name("git.test"), name("db.test")
	shared, other := addr("203.0.113.30"), addr("203.0.113.31")
	tests := map[string]func(*Book) bool{
		"an address nobody was given has no names": func(b *Book) bool { return b.Names(shared) == nil },
		"an address has all names it was given for, the latest first": func(b *Book) bool {
			b.Learn(git, shared)
			b.Learn(db, shared, other)
			return slices.Equal(b.Names(shared), []policy.Name{db, git})
		},
		"learning a name again makes it the latest": func(b *Book) bool {
			b.Learn(git, shared)
			b.Learn(db, shared)
			b.Names(shared)
			b.Learn(git, shared)
			return slices.Equal(b.Names(shared), []policy.Name{git, db})
		},
		"the addresses of a name come in their answer's order": func(b *Book) bool {
			b.Learn(git, shared, other)
			return slices.Equal(b.Addrs(git), []netip.Addr{shared, other})
		},
		"an IPv4 address inside IPv6 is the IPv4 address": func(b *Book) bool {
			b.Learn(git, addr("::ffff:203.0.113.30"))
			return len(b.Names(shared)) == 1 && len(b.Names(addr("::ffff:203.0.113.30"))) == 1
		},
		"a zone doesn't count": func(b *Book) bool {
			b.Learn(git, addr("fe80::1%eth0"))
			return len(b.Names(addr("fe80::1"))) == 1
		},
		"no name is learnt for an address of the room": func(b *Book) bool {
			b.Learn(git, policy.MachineAddr, policy.ProxyAddr, policy.NameServer, policy.RoomAddr4, policy.RoomAddr6, netip.Addr{})
			return b.Names(policy.MachineAddr) == nil && b.Addrs(git) == nil
		},
		"no name is learnt for a refusal address": func(b *Book) bool {
			v4, v6 := b.Refusal(db)
			b.Learn(git, v4, v6)
			return slices.Equal(b.Names(v4), []policy.Name{db}) && slices.Equal(b.Names(v6), []policy.Name{db}) && b.Addrs(git) == nil
		},
		"the zero name is learnt for nothing": func(b *Book) bool {
			b.Learn(policy.Name{}, shared)
			return b.Names(shared) == nil
		},
	}
	for sentence, holds := range tests {
		t.Run(sentence, func(t *testing.T) {
			if !holds(NewBook(100)) {
				t.Error("it doesn't hold")
			}
		})
	}
}

func TestBookDropsTheLongestUnused(t *testing.T) {
	b := NewBook(3)
	b.Learn(name("a.test"), addr("203.0.113.1"))
	b.Learn(name("b.test"), addr("203.0.113.2"))
	b.Learn(name("c.test"), addr("203.0.113.3"))
	b.Names(addr("203.0.113.1")) // a call uses it
	b.Addrs(name("b.test"))      // so does an answer from the book
	before := b.drops()
	b.Learn(name("d.test"), addr("203.0.113.4"))
	if b.Names(addr("203.0.113.3")) != nil {
		t.Error("the longest unused pair is still there")
	}
	for _, a := range []string{"203.0.113.1", "203.0.113.2", "203.0.113.4"} {
		if len(b.Names(addr(a))) != 1 {
			t.Errorf("%s was forgotten", a)
		}
	}
	if b.drops() != before+1 {
		t.Error("the drop wasn't counted")
	}
}

func TestOneNameOrAddressDoesNotFillTheBook(t *testing.T) {
	b := NewBook(0)
	for i := range maxNamesOfAddr + 10 {
		b.Learn(name(fmt.Sprintf("n%d.test", i)), addr("203.0.113.1"))
	}
	if n := len(b.Names(addr("203.0.113.1"))); n != maxNamesOfAddr {
		t.Errorf("one address has %d names", n)
	}
	for i := range maxAddrsOfName + 10 {
		b.Learn(name("pool.test"), netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)}))
	}
	if n := len(b.Addrs(name("pool.test"))); n != maxAddrsOfName {
		t.Errorf("one name has %d addresses", n)
	}
}

func TestNamesAreSafeToKeep(t *testing.T) {
	b := NewBook(0)
	b.Learn(name("a.test"), addr("203.0.113.1"))
	kept := b.Names(addr("203.0.113.1"))
	b.Learn(name("b.test"), addr("203.0.113.1"))
	b.Names(addr("203.0.113.1"))
	if !slices.Equal(kept, []policy.Name{name("a.test")}) {
		t.Errorf("what a caller kept became %v", kept)
	}
}

// model is a book that is obviously right: pairs in the order of their last use.
type model struct {
	max   int
	pairs []pairKey
}

func (m *model) use(k pairKey) {
	if i := slices.Index(m.pairs, k); i >= 0 {
		m.pairs = slices.Delete(m.pairs, i, i+1)
	}
	m.pairs = append(m.pairs, k)
	if len(m.pairs) > m.max {
		m.pairs = m.pairs[1:]
	}
}

func TestBookIsASetOfPairs(t *testing.T) {
	names := []policy.Name{name("a.test"), name("b.test"), name("c.test"), name("d.test")}
	rapid.Check(t, func(t *rapid.T) {
		b, m := NewBook(5), &model{max: 5}
		addrOf := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}) }
		t.Repeat(map[string]func(*rapid.T){
			"learn": func(t *rapid.T) {
				n := rapid.SampledFrom(names).Draw(t, "name")
				a := addrOf(rapid.IntRange(0, 4).Draw(t, "addr"))
				b.Learn(n, a)
				m.use(pairKey{n, a})
			},
			"names": func(t *rapid.T) {
				a := addrOf(rapid.IntRange(0, 4).Draw(t, "addr"))
				got := slices.Clone(b.Names(a))
				var want []policy.Name
				for _, k := range m.pairs {
					if k.addr == a {
						want = append(want, k.name)
					}
				}
				if !sameSet(got, want) {
					t.Fatalf("names of %v: %v, want %v", a, got, want)
				}
				for i := range got { // the first one is touched first
					m.use(pairKey{got[i], a})
				}
			},
			"": func(t *rapid.T) {
				if len(b.pairs) != len(m.pairs) || b.used.len != len(m.pairs) {
					t.Fatalf("%d pairs, %d in order, want %d", len(b.pairs), b.used.len, len(m.pairs))
				}
				for _, k := range m.pairs {
					if b.pairs[k] == nil {
						t.Fatalf("%v is missing", k)
					}
				}
			},
		})
	})
}

func sameSet[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}

func TestBookFromManyGoroutines(t *testing.T) {
	b := NewBook(50)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 500 {
				n, a := name(fmt.Sprintf("n%d.test", (i*g)%30)), netip.AddrFrom4([4]byte{203, 0, 113, byte(i % 40)})
				b.Learn(n, a)
				for _, got := range b.Names(a) {
					if got.IsZero() {
						t.Error("a zero name")
					}
				}
				b.Addrs(n)
				b.Refusal(n)
			}
		})
	}
	all.Wait()
}

func BenchmarkBookNames(b *testing.B) {
	book := NewBook(0)
	for i := range 1000 {
		book.Learn(name(fmt.Sprintf("n%d.test", i)), netip.AddrFrom4([4]byte{203, 0, byte(i >> 2), byte(i)}))
	}
	a := addr("203.0.1.5")
	b.ReportAllocs()
	for b.Loop() {
		book.Names(a)
	}
}
