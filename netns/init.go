package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// The argv[0] of a room's init: while it builds the room, and where it had to exec itself once more to be rid of the
// privileges of all its threads (see threads).
const (
	initName   = "lnk-room"
	keeperName = "lnk-room-keeper"
)

// statusBroken is init's exit status when something went wrong. The launcher has heard what, if it still is there.
const statusBroken = 125

// Init takes over if this process is a room's init, and then never returns. It is the first line of main.
func Init() {
	if len(os.Args) == 0 || os.Args[0] != initName && os.Args[0] != keeperName {
		return
	}
	if os.Getpid() != 1 {
		fmt.Fprintf(os.Stderr, "lnk: error: %s is started by lnk alone\n", os.Args[0])
		exit(statusBroken)
	}
	exit(serveRoom(os.Args))
}

// exit ends this process, and with it all in its pid namespace, at once: not after what os.Exit does for the profiler and
// the race detector.
func exit(status int) { unix.Exit(status) }

// roomInit is pid 1 of a room.
type roomInit struct {
	ch *channel

	mu      sync.Mutex
	program program
	dials   map[uint64]context.CancelFunc
}

func serveRoom(args []string) int {
	os.WriteFile("/proc/self/comm", []byte(initName), 0) // exec called it after its path, "exe"
	withstandSignals()
	if err := closeOnExec(socketFD); err != nil {
		return statusBroken
	}
	go func() {
		blocking(socketFD).untilClosed()
		exit(statusBroken) // whatever the other threads are at
	}()
	r := &roomInit{ch: newChannel(blocking(socketFD)), dials: map[uint64]context.CancelFunc{}}
	ended, err := r.live(args)
	if err != nil {
		r.ch.send(kindFailed, failureOf(err)) // the launcher may be gone; then nobody asks
		return statusBroken
	}
	if r.ch.send(kindEnded, ended) != nil {
		return statusBroken
	}
	return 0
}

// live is a room's life, from its first link to the end of its program.
func (r *roomInit) live(args []string) (endedBody, error) {
	if args[0] == initName {
		if err := r.prepare(args); err != nil {
			return endedBody{}, err
		}
	} else {
		runtime.LockOSThread()
		if err := conceal(); err != nil { // exec made it dumpable
			return endedBody{}, err
		}
	}
	if err := r.ch.send(kindReady, struct{}{}); err != nil {
		return endedBody{}, err
	}
	var body runBody
	if err := r.request(kindRun, &body); err != nil {
		return endedBody{}, err
	}
	pid, err := r.start(body)
	if err != nil {
		return endedBody{}, err
	}
	if err := r.ch.send(kindRunning, struct{}{}); err != nil {
		return endedBody{}, err
	}
	go r.listen()
	return r.reapAll(pid)
}

// prepare builds and furnishes the room, and leaves init without privileges. It builds before it is asked, while the
// launcher still reads its settings.
func (r *roomInit) prepare(args []string) error {
	if err := r.ch.send(kindHello, struct{}{}); err != nil {
		return err
	}
	if len(args) != 2 {
		return errors.New("starting the room's init: it has other arguments")
	}
	ipv6, err := parseFamilies(args[1])
	if err != nil {
		return err
	}
	sockets, err := build(ipv6)
	if err != nil {
		return err
	}
	if err := r.handUp(sockets, ipv6); err != nil {
		return err
	}
	var body goBody
	held, err := r.requestWith(kindGo, &body)
	if err != nil {
		return err
	}
	if err := fill(body.Files, held); err != nil {
		return err
	}
	return r.furnish(body)
}

// handUp opens the listeners for the machine's ports and passes all sockets on. Init keeps none.
func (r *roomInit) handUp(sockets []socket, ipv6 bool) error {
	defer func() { closeSockets(sockets) }()
	var body buildBody
	if err := r.request(kindBuild, &body); err != nil {
		return err
	}
	ports, err := openPorts(body.Ports, ipv6)
	if err != nil {
		return err
	}
	sockets = append(sockets, ports...)
	rest := sockets
	for ; len(rest) > maxFiles; rest = rest[maxFiles:] {
		if err := r.sendSockets(kindSockets, rest[:maxFiles], ipv6); err != nil {
			return err
		}
	}
	return r.sendSockets(kindBuilt, rest, ipv6)
}

func (r *roomInit) sendSockets(k kind, list []socket, ipv6 bool) error {
	body := socketsBody{IPv6: ipv6}
	var fds []int
	for _, s := range list {
		body.Sockets = append(body.Sockets, socketBody{s.use, s.port})
		fds = append(fds, s.fd)
	}
	return r.ch.send(k, body, fds...)
}

// furnish is where init keeps to one thread, not before: it is that thread that gives up its privileges and then forks the
// program, and that the parent-death signal is armed on. While a locked goroutine waits for others, as it would in the
// netlink libraries, the runtime switches threads each time.
func (r *roomInit) furnish(to goBody) error {
	runtime.LockOSThread()
	permit(to.User, to.FreePorts)
	var all threads
	if err := assume(&all, to); err != nil {
		return err
	}
	if err := furnish(steps(to)); err != nil {
		return err
	}
	if err := relinquish(&all, to); err != nil {
		return err
	}
	if all.onlyOne {
		return again(to.Extra)
	}
	return nil
}

// request waits for the launcher's next message, which is of that kind.
func (r *roomInit) request(want kind, body any) error {
	passed, err := r.requestWith(want, body)
	closeAll(passed)
	return err
}

// requestWith gives the descriptors too that came with a request.
func (r *roomInit) requestWith(want kind, body any) ([]*os.File, error) {
	m, err := r.ch.receive()
	if err != nil {
		return nil, fmt.Errorf("waiting for the launcher to say %q: %w", want, err)
	}
	if m.kind != want {
		m.discard()
		return nil, fmt.Errorf("waiting for the launcher to say %q: it said %q", want, m.kind)
	}
	return m.with(body)
}
