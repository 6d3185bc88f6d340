package wirelog

import (
	"fmt"
	"sync"
	"time"
)

const (
	noticeEvery = time.Minute     // while the log can't be written
	retryEvery  = 5 * time.Second // so that what is unsaid gets said although no more calls come
)

// outage is a time in which the log can't be written. The zero value is none.
type outage struct {
	lasts  bool
	missed int // lines that couldn't be written
	said   time.Time
	texts  []string // for Options.Notice, once the lock is given back

	timer   *time.Timer // set while a retry is due
	waiting sync.WaitGroup
}

// failed notes that a line couldn't be written, and how many are left out by it that weren't before.
func (o *outage) failed(err error, lines int, now time.Time) {
	o.missed += lines
	since := now.Sub(o.said)
	if o.lasts && since >= 0 && since < noticeEvery {
		return
	}
	text := fmt.Sprintf("calls aren't logged: %v", err)
	if o.missed > 1 {
		text += fmt.Sprintf(" (%d lines left out so far)", o.missed)
	}
	o.lasts, o.said, o.texts = true, now, append(o.texts, text)
}

// worked ends the outage.
func (o *outage) worked() {
	if o.lasts {
		o.texts = append(o.texts, fmt.Sprintf("calls are logged again; %d lines were left out", o.missed))
	}
	o.lasts, o.missed = false, 0
}

func (o *outage) take() []string {
	texts := o.texts
	o.texts = nil
	return texts
}

// retryLater sees to it that retry runs while the outage lasts.
func (l *Log) retryLater() {
	o := &l.outage
	if o.timer != nil || l.closed {
		return
	}
	o.waiting.Add(1)
	o.timer = time.AfterFunc(retryEvery, func() {
		defer o.waiting.Done()
		l.retry()
	})
}

// retry says what is unsaid. A failure makes it come again.
func (l *Log) retry() {
	l.mu.Lock()
	l.outage.timer = nil
	if !l.closed {
		l.sayLost(l.now())
	}
	said := l.outage.take()
	l.mu.Unlock()
	for _, s := range said {
		l.notice(s)
	}
}

// stop calls off a retry that is due. One that already runs finds the log closed; whoever stops it waits for that
// once the lock is given back.
func (o *outage) stop() {
	if o.timer != nil && o.timer.Stop() {
		o.waiting.Done()
	}
}
