package dnsproxy

import (
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of a resolver's cache. Few programs ask for more names than this in their life; an answer over maxCachedAnswer is asked again.
const (
	maxCached       = 1 << 13
	maxCachedBytes  = 8 << 20
	maxCachedAnswer = 16 << 10
)

// cache keeps answers until they expire. It is keyed by question.key.
type cache struct {
	mu      sync.RWMutex
	answers map[string]*cached
	bytes   int
}

type cached struct {
	*answer
	used atomic.Int64 // the tick of the last use
}

// get returns a fresh answer, or nil. The key isn't kept.
func (c *cache) get(key []byte, now time.Time) *answer {
	c.mu.RLock()
	a := c.answers[string(key)]
	c.mu.RUnlock()
	if a == nil || !now.Before(a.expires) {
		return nil
	}
	if at := tick(now); at-a.used.Load() > int64(time.Second) { // not each time: the line would travel between cores
		a.used.Store(at)
	}
	return a.answer
}

// put keeps an answer that may be kept.
func (c *cache) put(key string, a *answer, now time.Time) {
	size := len(key) + a.size()
	if !now.Before(a.expires) || size > maxCachedAnswer {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil {
		c.answers = make(map[string]*cached)
	}
	c.remove(key)
	for len(c.answers) >= maxCached || c.bytes+size > maxCachedBytes {
		c.remove(c.victim(now))
	}
	k := &cached{answer: a}
	k.used.Store(tick(now))
	c.answers[key] = k
	c.bytes += size
}

// victim is one of a few answers picked at random: an expired one, or else the longest unused.
func (c *cache) victim(now time.Time) (key string) {
	oldest, left := int64(0), 8
	for k, a := range c.answers {
		if !now.Before(a.expires) {
			return k
		}
		if used := a.used.Load(); key == "" || used < oldest {
			key, oldest = k, used
		}
		if left--; left == 0 {
			break
		}
	}
	return key
}

func (c *cache) remove(key string) {
	if a, ok := c.answers[key]; ok {
		c.bytes -= len(key) + a.size()
		delete(c.answers, key)
	}
}

// clear forgets everything.
func (c *cache) clear() {
	c.mu.Lock()
	clear(c.answers)
	c.bytes = 0
	c.mu.Unlock()
}
