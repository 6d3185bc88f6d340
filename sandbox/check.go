package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"lnk/control"
	"lnk/netns"
	"lnk/policy"
)

// Part is one thing that a sandbox needs, in the order in which a run needs them.
type Part string

// The parts that Check tries.
const (
	PartUser       Part = "user"       // who the caller is, and becoming them
	PartSettings   Part = "settings"   // the settings folder, and the gate that looks at it
	PartNamespaces Part = "namespaces" // the room's namespaces
	PartRoom       Part = "room"       // links, rules and listeners in them, and a call in each family that arrives
	PartIPv6       Part = "ipv6"       // whether the room has IPv6; it holds without
	PartProgram    Part = "program"    // a program that runs in it and ends
)

// Finding is how one part fared. A part that wasn't come to isn't among the findings.
type Finding struct {
	Part Part
	Err  error // nil where it works
}

// Check makes a room as a run does, runs a program in it that does nothing, and says of each part whether it works. It stops
// at the first that a room can't be without. It claims no name and writes no log. The process is the caller's afterwards.
func Check(ctx context.Context) []Finding {
	o, err := Options{Argv: nothingToDo()}.filled()
	if err != nil {
		return []Finding{{PartProgram, err}}
	}
	return check(ctx, o)
}

func check(ctx context.Context, o Options) (found []Finding) {
	r := &run{Options: o}
	note := func(p Part, err error) bool {
		found = append(found, Finding{p, err})
		return err == nil
	}
	noRoom, err := r.becomeCaller()
	if r.launch != nil {
		defer r.launch.Close()
		defer context.AfterFunc(ctx, func() { r.launch.Close() })()
	}
	if !note(PartUser, err) || !note(PartSettings, r.checkSettings()) || !note(PartNamespaces, noRoom) {
		return found
	}
	r.rules.set(policy.Rules{})
	plan, err := r.plan()
	if !note(PartSettings, err) {
		return found
	}
	room, err := r.launch.Build(plan)
	if !note(PartRoom, err) {
		return found
	}
	closeAll(room)
	if !room.IPv6 {
		note(PartIPv6, errors.New("this machine has IPv6 switched off, and so has the sandbox"))
	} else {
		note(PartIPv6, nil)
	}
	note(PartProgram, r.checkProgram())
	return found
}

func (r *run) checkSettings() (err error) {
	if r.home, err = r.caller.Settings(r.who.Getenv("LNK_HOME")); err != nil {
		return err
	}
	if err := r.home.Ensure(); err != nil {
		return err
	}
	if state := control.Stopped(r.home); state.Cause == control.CauseUnreadable || state.Cause == control.CauseUnknown {
		return fmt.Errorf("looking at the settings: %s", state.Why)
	}
	return nil
}

func (r *run) checkProgram() error {
	if err := r.launch.Go(); err != nil {
		return err
	}
	status, err := r.launch.Wait()
	if err != nil {
		return err
	}
	if code := exitStatus(status); code != 0 {
		return fmt.Errorf("running %s in a sandbox: it ended with status %d", r.Argv[0], code)
	}
	return nil
}

// nothingToDo is a program that ends at once, without a word and with status 0.
func nothingToDo() []string {
	if path, err := exec.LookPath("true"); err == nil {
		return []string{path}
	}
	if self, err := os.Executable(); err == nil {
		return []string{self, "version"}
	}
	return []string{"true"}
}

// closeAll closes the sockets of a room that nobody serves.
func closeAll(room *netns.Room) {
	for _, l := range append(room.Wire, room.DNSTCP...) {
		l.Close()
	}
	for _, c := range room.DNSUDP {
		c.Close()
	}
	for _, ls := range room.Ports {
		for _, l := range ls {
			l.Close()
		}
	}
}
