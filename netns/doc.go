// Package netns makes the room that a sandboxed program runs in, and starts the program there.
//
// A room is a set of namespaces (network, mount, pid, ipc, uts, and a user namespace where lnk isn't root) and one
// process that holds them, its init: a clone of lnk itself, pid 1 inside. The launcher (lnk) stays where it is and never
// changes its own namespaces. The two speak over a socketpair.
//
// # Order of calls
//
//	func main() {
//		netns.Init()                 // first line of main: never returns in a room's init
//		...
//		l, err := netns.Start(o)     // as root under sudo: clones init, waits for its hello
//		defer l.Close()              // ends everything in the room, at any point
//		err = l.Become(user)         // the launcher is that user from here on; a no-op where it is
//		room, err := l.Build(plan)   // links, routes, rules, listeners, and a check that they work
//		...                          // serve room.Wire, room.DNSUDP, room.DNSTCP, room.Ports
//		err = l.Go()                 // mounts, identity, exec: returns once the program runs
//		status, err := l.Wait()      // the program's status; nothing of the room is left
//	}
//
// Start, Become, Build and Go are called once each, in this order, by one goroutine. Dial, Signal, Wait, PID and Close
// may be called by any, Dial and Signal from Go on. The listeners belong to the caller, who closes them.
package netns
