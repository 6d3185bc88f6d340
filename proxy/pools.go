package proxy

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// buffers are what small copies go through. They are shared by all wires of the process.
var buffers bufferPool

type bufferPool struct{ pool sync.Pool }

func (p *bufferPool) get() *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, bufferSize)
	return &b
}

func (p *bufferPool) put(b *[]byte) { p.pool.Put(b) }

// pipe is what a splice goes through. It is empty while it is in the pool.
type pipe struct {
	r, w int
	size int // bytes it holds
}

func (p *pipe) close() {
	unix.Close(p.r)
	unix.Close(p.w)
}

// pipePool keeps the pipes of one wire. Only directions that have something to move at this moment hold one, so there are few.
type pipePool struct {
	mu     sync.Mutex
	free   []*pipe
	closed bool
}

const (
	// pipeSize is as much as pipe(7) gives without privilege (fs.pipe-max-size).
	pipeSize = 1 << 20
	// keptPipes bounds the pipes that wait in a pool; more than the processors can use at once are not worth their pages.
	keptPipes = 8
)

func (p *pipePool) get() (*pipe, error) {
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		got := p.free[n-1]
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return got, nil
	}
	p.mu.Unlock()
	return newPipe()
}

func newPipe() (*pipe, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	p := &pipe{r: fds[0], w: fds[1]}
	// A user over the soft limit of pipe pages (fs.pipe-user-pages-soft) gets a smaller one; it does as well, only slower.
	if size, err := unix.FcntlInt(uintptr(p.w), unix.F_SETPIPE_SZ, pipeSize); err == nil {
		p.size = size
	} else if size, err := unix.FcntlInt(uintptr(p.w), unix.F_GETPIPE_SZ, 0); err == nil {
		p.size = size
	} else {
		p.size = os.Getpagesize()
	}
	return p, nil
}

func (p *pipePool) put(one *pipe) {
	p.mu.Lock()
	if !p.closed && len(p.free) < keptPipes {
		p.free = append(p.free, one)
		one = nil
	}
	p.mu.Unlock()
	if one != nil {
		one.close()
	}
}

// close closes the pipes that wait; one that is put back later is closed then.
func (p *pipePool) close() {
	p.mu.Lock()
	free := p.free
	p.free, p.closed = nil, true
	p.mu.Unlock()
	for _, one := range free {
		one.close()
	}
}
