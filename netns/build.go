package netns

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

var errOrder = errors.New("called out of order")

// Build makes the room. After an error there is none, and the launch is closed.
func (l *Launch) Build(p Plan) (*Room, error) {
	if l.plan != nil {
		return nil, fmt.Errorf("building the room: %w", errOrder)
	}
	if err := p.check(); err != nil {
		l.Close()
		return nil, fmt.Errorf("building the room: %w", err)
	}
	room, err := l.build(p)
	if err != nil {
		room.close()
		l.Close()
		return nil, diagnose(fmt.Errorf("building the room: %w", err), l.userNS)
	}
	l.plan = &p
	return room, nil
}

func (l *Launch) build(p Plan) (*Room, error) {
	room := &Room{Ports: map[uint16][]*net.TCPListener{}}
	if err := l.ch.send(kindBuild, buildBody{p.Ports}); err != nil && !errors.Is(err, unix.EPIPE) {
		return room, err
	}
	for {
		m, err := l.answer(kindSockets, kindBuilt)
		if err != nil {
			return room, err
		}
		if err := room.take(m); err != nil || m.kind == kindBuilt {
			return room, err
		}
	}
}

// Go starts the program and returns once it runs. An error that is an *ExecError says that it couldn't be executed. After
// any error the launch is closed.
func (l *Launch) Go() error {
	if l.plan == nil || l.running {
		return fmt.Errorf("starting the program: %w", errOrder)
	}
	l.running = true
	l.terminal = foreground()
	l.stops = ignoreStops()
	if err := l.start(); err != nil {
		l.Close()
		return fmt.Errorf("starting the program: %w", err)
	}
	return nil
}

func (l *Launch) start() error {
	if err := l.sendGo(); err != nil && !errors.Is(err, unix.EPIPE) {
		return err
	}
	if _, err := l.answer(kindReady); err != nil {
		return err
	}
	if err := l.ch.send(kindRun, l.plan.run(l.stdio, l.extra)); err != nil && !errors.Is(err, unix.EPIPE) {
		return err
	}
	_, err := l.answer(kindRunning)
	return err
}

func (l *Launch) sendGo() error {
	body := l.plan.furnish(l.userNS, l.extra)
	held, err := contents(body.Files)
	if err != nil {
		return err
	}
	defer held.Close()
	return l.ch.send(kindGo, body, int(held.Fd()))
}
