package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lnk/control"
	"lnk/netns"
	"lnk/policy"
	"lnk/proxy"
	"lnk/settings"
	"lnk/spec"
)

// run is one run under way. Its parts are set in the order of its fields.
type run struct {
	Options
	signals   *signals
	caller    Caller
	launch    launch // nil where no room could be started
	home      settings.Home
	dir       string
	source    source
	spec      spec.Spec
	name      settings.Name
	claim     *claim
	authority *proxy.Authority
	gate      *control.Gate
	rules     currentRules
	told      sync.Mutex
}

// Run runs a program in a sandbox and returns what it exited with: its own status, or 128 and the number of the signal that ended it. An
// error means that the program never ran, or that what became of it isn't known. Where ctx ends, so does the program, at once.
func Run(ctx context.Context, o Options) (status int, err error) {
	o, err = o.filled()
	if err != nil {
		return 0, err
	}
	r := &run{Options: o, signals: catch()}
	defer r.signals.stop()
	status, err = r.run(ctx)
	var early errInterrupted
	if errors.As(err, &early) {
		return signalled + int(early.signal), nil
	}
	return status, err
}

// signalled is added to a signal's number, as shells do.
const signalled = 128

func (r *run) run(ctx context.Context) (int, error) {
	noRoom, err := r.becomeCaller()
	if err != nil {
		return 0, err
	}
	if r.launch != nil {
		defer r.launch.Close()
	}
	if err := r.read(); err != nil {
		return 0, err
	}
	if r.spec.Mode() == policy.ModeHost {
		return 0, r.onHost()
	}
	if noRoom != nil {
		return 0, noRoom
	}
	if r.launch == nil {
		return 0, errors.New("running a sandbox: it has no room") // can't be: only what asks for mode host starts none
	}
	if err := r.take(); err != nil {
		return 0, err
	}
	defer r.release()
	return r.inRoom(ctx)
}

// becomeCaller starts the room, while the process still has the power to, and then makes the process the caller. That
// no room could be started is told apart: what was asked may be wrong in itself, or need none. Flags that ask for mode host get none:
// starting one would close the descriptors that the program is to inherit.
func (r *run) becomeCaller() (noRoom, err error) {
	if r.caller, err = Who(*r.who); err != nil {
		return nil, err
	}
	if r.Flags.Mode == policy.ModeHost.String() {
		return nil, r.caller.Become()
	}
	r.launch, noRoom = r.start(netns.Options{
		Stdin: r.Stdin, Stdout: r.Stdout, Stderr: r.Stderr, Rootless: r.who.EUID != 0,
	})
	if noRoom != nil {
		return noRoom, r.caller.Become()
	}
	if err := r.launch.Become(r.caller.identity()); err != nil {
		return nil, errors.Join(err, r.launch.Close())
	}
	return nil, nil
}

func (c Caller) identity() netns.Identity {
	return netns.Identity{UID: c.UID, GID: c.GID, Groups: c.Groups}
}

// read reads, as the caller, what the run is asked to be.
func (r *run) read() (err error) {
	if r.home, err = r.caller.Settings(r.who.Getenv("LNK_HOME")); err != nil {
		return err
	}
	if err := r.home.Ensure(); err != nil {
		return err
	}
	if r.dir, err = os.Getwd(); err != nil {
		return fmt.Errorf("finding the working folder: %w", err)
	}
	if r.source, err = locateSpec(r.home, r.SpecFile, r.Name, r.Flags); err != nil {
		return err
	}
	if r.spec, err = r.source.read(); err != nil {
		return err
	}
	r.rules.set(r.spec.Rules())
	return nil
}

// take claims the run's name: the one it was given, or a made-up one that nobody has and no pause is left for.
func (r *run) take() error {
	self, err := settings.Self()
	if err != nil {
		return fmt.Errorf("identifying this process: %w", err)
	}
	for {
		name := r.Name
		if name == "" {
			if name, err = madeUpName(r.Argv[0]); err != nil {
				return err
			}
			if _, err := os.Lstat(r.home.Paused(name)); err == nil {
				continue
			}
		}
		r.claim, err = take(r.home, r.record(name, self))
		var taken *TakenError
		if errors.As(err, &taken) && r.Name == "" {
			continue
		}
		if err != nil {
			return err
		}
		r.name = name
		return nil
	}
}

func (r *run) record(name settings.Name, self settings.Process) Running {
	rec := Running{
		Process: self, Name: name, Program: programName(r.Argv[0], settings.MaxName),
		Since: time.Now().UTC(), Unnamed: r.Name == "",
	}
	rec.describe(r.spec)
	return rec
}

// release gives the name back, and ends the pause of a run whose name was made up: nobody will use it again.
func (r *run) release() {
	if r.Name == "" {
		_ = control.EndPause(r.home, r.name)
	}
	if err := r.claim.release(); err != nil {
		r.tell(LogTrouble{err.Error()})
	}
}

// tell tells one event at a time.
func (r *run) tell(e Event) {
	r.told.Lock()
	defer r.told.Unlock()
	r.Tell(e)
}

// inRoom builds the room, serves it, and runs the program in it to its end.
func (r *run) inRoom(ctx context.Context) (_ int, err error) {
	if r.authority, err = proxy.NewAuthority(string(r.name)); err != nil {
		return 0, err
	}
	plan, err := r.plan()
	if err != nil {
		return 0, err
	}
	room, err := r.launch.Build(plan)
	if err != nil {
		return 0, err
	}
	service, err := r.serve(room)
	if err != nil {
		return 0, err
	}
	defer service.end()
	stop := context.AfterFunc(ctx, func() { r.launch.Close() })
	defer stop()
	if sig := r.signals.early(); sig != 0 {
		return 0, errInterrupted{sig}
	}
	r.tell(r.started(room))
	status, err := r.goAndWait()
	if failed := service.failure(); failed != nil {
		return 0, failed
	}
	if err != nil && ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return status, err
}

// started is what there is to say before the program runs.
func (r *run) started(room *netns.Room) Started {
	e := Started{Name: r.name, Mode: r.spec.Mode(), Network: r.spec.Describe(), NoIPv6: !room.IPv6, Vain: r.spec.Warnings()}
	if state := r.gate.Look(); !state.Open() {
		e.Closed = string(verdict(state).Reason)
	}
	return e
}

// goAndWait runs the program and passes signals on until it has ended.
func (r *run) goAndWait() (int, error) {
	if err := r.launch.Go(); err != nil {
		return 0, err
	}
	// What starting took is garbage by now; a sandbox that idles for days shouldn't hold it. A short run doesn't come to it.
	defer time.AfterFunc(time.Second, debug.FreeOSMemory).Stop()
	ended := make(chan struct{})
	var forwarding sync.WaitGroup
	forwarding.Go(func() { r.signals.forward(ended, r.launch.Signal) })
	status, err := r.launch.Wait()
	close(ended)
	forwarding.Wait()
	return exitStatus(status), err
}

func exitStatus(s netns.Status) int {
	if s.Signal != unix.Signal(0) {
		return signalled + int(s.Signal)
	}
	return s.Code
}
