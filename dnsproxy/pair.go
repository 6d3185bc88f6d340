package dnsproxy

// pair is one name with one address it was given. It is in three lists at once.
type pair struct {
	pairKey
	ofAddr *names
	ofName *addrs
	links  [3]link
}

type link struct{ before, after *pair }

// The three lists that a pair is in.
const (
	byUse  = iota // all pairs, by their last use
	byAddr        // the pairs of one address
	byName        // the pairs of one name
)

// pairList is a list of pairs, linked through the pairs themselves. The zero value is an empty one by use.
type pairList struct {
	which       int
	first, last *pair
	len         int
}

func (l *pairList) after(p *pair) *pair { return p.links[l.which].after }

func (l *pairList) pushFront(p *pair) {
	p.links[l.which] = link{after: l.first}
	if l.first != nil {
		l.first.links[l.which].before = p
	} else {
		l.last = p
	}
	l.first = p
	l.len++
}

func (l *pairList) remove(p *pair) {
	at := p.links[l.which]
	if at.before != nil {
		at.before.links[l.which].after = at.after
	} else {
		l.first = at.after
	}
	if at.after != nil {
		at.after.links[l.which].before = at.before
	} else {
		l.last = at.before
	}
	p.links[l.which] = link{}
	l.len--
}

func (l *pairList) toFront(p *pair) {
	if l.first != p {
		l.remove(p)
		l.pushFront(p)
	}
}
