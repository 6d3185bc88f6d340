package control

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"lnk/settings"
)

// A look that takes longer than patience counts as unreadable: the file system hangs, and nobody can say what it holds. A call waits that long
// and is then refused, so patience costs no safety; and a machine with fifty sandboxes starting on two processors keeps a look
// waiting for more than half a second (measured) without anything being wrong. It is waited out in shares, since a process that was stopped or
// that gets little processor time finds its timer ended as soon as it runs again, and its looks deserve a chance first.
const (
	patience = 3 * time.Second
	shares   = 5
)

// maxLooks is how many looks run at the same time. Each takes microseconds; only a file system that hangs lets them
// pile up, and a thread with each.
const maxLooks = 256

var (
	errSilent = errors.New("looking at the settings: the file system doesn't answer")
	// What covers the settings inside a sandbox was laid over the first folder. Another one in its place may be the program's own: it
	// can stop and pause, but open nothing, until the first is back.
	errReplaced = errors.New("looking at the settings: their folder is another than at the start; start the sandbox again")
	errUnsteady = errors.New("looking at the settings: their folders change during each look")
)

// Gate is what one proxy looks at before each call. The zero value is closed: its state is CauseUnknown.
type Gate struct {
	name                        settings.Name
	stoppedPath, pausedPath     string
	sandboxFolder, pausedFolder string
	disk                        presence
	looks                       chan struct{} // holds a token for each look that runs
	silent                      atomic.Bool   // Watch waits in vain for a look
	held                        atomic.Pointer[hold]
	settling                    sync.Mutex    // who pays what the hold owes
	nudged                      chan struct{} // Hold wakes Watch
	openings                    atomic.Uint64 // how often the gate opened again

	mu     sync.Mutex // never kept over a system call
	memory memory
}

// NewGate returns the gate of the sandbox called name. It looks at nothing: the first look does.
func NewGate(home settings.Home, name settings.Name) (*Gate, error) {
	if err := named(home, name); err != nil {
		return nil, fmt.Errorf("making a gate: %w", err)
	}
	return &Gate{
		name:          name,
		stoppedPath:   home.Stopped(),
		pausedPath:    home.Paused(name),
		sandboxFolder: filepath.Dir(home.Stopped()),
		pausedFolder:  home.PausedFolder(),
		disk:          onDisk,
		looks:         make(chan struct{}, maxLooks),
		nudged:        make(chan struct{}, 1),
	}, nil
}

// named refuses what no path can be made of.
func named(home settings.Home, name settings.Name) error {
	if home.Dir() == "" {
		return errors.New("no settings folder is set")
	}
	_, err := settings.ParseName(string(name))
	return err
}

// Look looks at the files, each time, and says whether a call may pass. Where the file system hangs, the looks that
// found out hang with it; all others return within three seconds and find the gate unreadable.
func (g *Gate) Look() State {
	if g == nil || g.name == "" {
		return State{}
	}
	if g.silent.Load() || !g.enter() {
		return unreadable(errSilent)
	}
	defer func() { <-g.looks }()
	return g.look()
}

// enter waits for its turn among the looks, if it has to.
func (g *Gate) enter() bool {
	select {
	case g.looks <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(patience / shares)
	defer timer.Stop()
	for range shares {
		select {
		case g.looks <- struct{}{}:
			return true
		case <-timer.C:
			timer.Reset(patience / shares)
		}
	}
	return false
}

// look glances until the folders stay the same; the first look takes two glances.
func (g *Gate) look() State {
	for range 4 {
		if state, steady := g.judge(g.glance()); steady {
			return state
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.memory.shut = true
	return unreadable(errUnsteady)
}
