package proxy

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// Pauses after an accept that failed (out of descriptors, say): the loop goes on, and costs nothing meanwhile.
const (
	firstAcceptPause = 5 * time.Millisecond
	lastAcceptPause  = time.Second
)

// accept hands each connection of l to handle, in a goroutine of its own, until ctx ends. It closes l.
func (w *Wire) accept(ctx context.Context, l *net.TCPListener, handle func(*flow)) {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	defer l.Close()
	var open atomic.Int64
	pause := time.Duration(0)
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			pause = min(max(2*pause, firstAcceptPause), lastAcceptPause)
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
				continue
			}
		}
		pause = 0
		f := w.newFlow(ctx, conn)
		f.over = open.Add(1) > int64(w.MaxFlows) || w.MaxOpen > 0 && w.flows.len() > w.MaxOpen
		go func() {
			defer open.Add(-1)
			defer f.close()
			handle(f)
		}()
	}
}
