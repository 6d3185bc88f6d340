package dnsproxy

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lnk/policy"
)

func TestRefusalAddresses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBook(0)
		given := make(map[netip.Addr]policy.Name)
		for i := range rapid.IntRange(1, 300).Draw(t, "names") {
			n := name(fmt.Sprintf("%s%d.test", rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), i))
			v4, v6 := b.Refusal(n)
			again4, again6 := b.Refusal(n)
			switch {
			case v4 != again4 || v6 != again6:
				t.Fatalf("%v got other addresses the second time", n)
			case !policy.IsRefusalAddr(v4) || !policy.IsRefusalAddr(v6) || !v4.Is4() || !v6.Is6():
				t.Fatalf("%v got %v and %v", n, v4, v6)
			case given[v4] != policy.Name{} && given[v4] != n:
				t.Fatalf("%v stands for %v and %v", v4, given[v4], n)
			}
			given[v4] = n
			for _, a := range []netip.Addr{v4, v6} {
				if got := b.Names(a); !slices.Equal(got, []policy.Name{n}) {
					t.Fatalf("%v stands for %v, want %v", a, got, n)
				}
			}
		}
	})
}

func TestARefusalAddressThatWasNotGivenStandsForNothing(t *testing.T) {
	b := NewBook(0)
	for _, a := range []string{"198.18.1.0", "198.19.255.254", "2001:2:0:1::", "2001:2:0:1::1", "2001:2:0:1:ffff:ffff:ffff:ffff", "2001:2:0:1::1:ffff:ffff"} {
		if got := b.Names(addr(a)); got != nil {
			t.Errorf("%s stands for %v", a, got)
		}
	}
}

func TestTheSameNameHasTheSameRefusalAddressInEverySandbox(t *testing.T) {
	a4, a6 := NewBook(0).Refusal(name("denied.test"))
	b4, b6 := NewBook(0).Refusal(name("denied.test"))
	if a4 != b4 || a6 != b6 {
		t.Errorf("%v %v and %v %v", a4, a6, b4, b6)
	}
}

// colliding returns names whose first number is the same.
func colliding(count int) []policy.Name {
	byNumber := make(map[uint32][]policy.Name)
	for i := 0; ; i++ {
		n := name(fmt.Sprintf("c%d.test", i))
		v4, _ := NewBook(0).Refusal(n)
		number, _ := refusalNumber(v4)
		if byNumber[number] = append(byNumber[number], n); len(byNumber[number]) == count {
			return byNumber[number]
		}
	}
}

func TestARefusalAddressIsNotGivenAwayWhileItMayBeInUse(t *testing.T) {
	b, now := NewBook(0), time.Now()
	b.refusals.now = func() time.Time { return now }
	names := colliding(3)
	first, _ := b.Refusal(names[0])
	second, _ := b.Refusal(names[1])
	if first == second {
		t.Fatal("two names have one address")
	}
	now = now.Add(refusalHold - time.Second)
	b.Names(first) // a call to it
	now = now.Add(refusalHold - time.Second)
	if third, _ := b.Refusal(names[2]); third != second {
		t.Errorf("the third name got %v, want %v, which nobody used for an hour", third, second)
	}
	if got := b.Names(first); !slices.Equal(got, names[:1]) {
		t.Errorf("the first address stands for %v", got)
	}
	if again, _ := b.Refusal(names[1]); again == second || again == first {
		t.Error("a name that lost its address has another's")
	}
}

func TestRefusedNamesBeyondTheBoundShareAnAddressThatStandsForNone(t *testing.T) {
	b := NewBook(0)
	for i := range maxRefusals {
		b.Refusal(name(fmt.Sprintf("n%d.test", i)))
	}
	v4, v6 := b.Refusal(name("one-more.test"))
	if b.Names(v4) != nil || b.Names(v6) != nil {
		t.Errorf("%v stands for %v", v4, b.Names(v4))
	}
	if !policy.IsRefusalAddr(v4) || !policy.IsRefusalAddr(v6) {
		t.Errorf("%v and %v are no refusal addresses", v4, v6)
	}
	if n := len(b.refusals.slots); n > maxRefusals || len(b.refusals.byName) != n {
		t.Errorf("%d numbers, %d names", n, len(b.refusals.byName))
	}
}
