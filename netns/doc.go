// Package netns makes the room that a sandboxed program runs in, and starts the program there.
//
// A room is a set of namespaces (network, mount, pid, ipc, uts, and a user namespace where lnk isn't root) and one
// process that holds them, its init: a clone of lnk itself, pid 1 inside. The launcher (lnk) stays where it is and never
// changes its own namespaces; no goroutine of it is ever in another. What init says to the launcher, and hands to it, goes
// over a socketpair. Nothing of a room is anywhere else: the kernel frees it all with init, however that ends.
//
// # Order of calls
//
//	func main() {
//		netns.Init()                 // first line of main: never returns in a room's init
//		...
//		l, err := netns.Start(o)     // as root under sudo: clones init, waits for its hello
//		defer l.Close()              // ends everything in the room, at any point
//		err = l.Become(user)         // the launcher is that user from here on, without a capability
//		room, err := l.Build(plan)   // links, routes, rules, listeners, and a trial of them
//		...                          // serve room.Wire, room.DNSUDP, room.DNSTCP, room.Ports
//		err = l.Go()                 // mounts, identity, exec: returns once the program runs
//		status, err := l.Wait()      // the program's status; nothing of the room is left
//	}
//
// Start, Become, Build and Go are called once each, in this order, by one goroutine; Become may be left out. Dial and
// Signal may be called by any goroutine from Go on, Wait, PID and Close at any time. The listeners belong to the caller, who
// closes them.
//
// # Handshake
//
// Each message has a name (see message.go) and is answered by the next one; no side sleeps or polls.
//
//	launcher                                    init
//	   │ ───────────── clone, exec ────────────► │ marks its descriptors
//	   │ ◄──────────────── hello ─────────────── │
//	   │   becomes the user, reads its settings  │ links, routes, rules, listeners; tries them
//	   │ ──────────── build (ports) ───────────► │ listeners for the machine's ports
//	   │ ◄──── sockets…, built (descriptors) ─── │
//	   │   starts its servers                    │
//	   │ ──────────────── go ──────────────────► │ becomes the user, mounts, gives up every privilege
//	   │ ◄─────────────── ready ──────────────── │
//	   │ ──────── run (arguments, …) ──────────► │ working directory, PATH, fork, exec
//	   │ ◄────────────── running ─────────────── │
//	   │                                         │
//	   │ ──── dial, cancel, signal, stop ──────► │ while the program runs, in any order
//	   │ ◄───── dialed, stopped, stands ──────── │ reaps orphans
//	   │ ◄─────────────── ended ──────────────── │ exits; the kernel kills the rest
//
// In place of any answer init may say failed, and exits. A launcher that is waiting for an answer and sees the socket close
// says how init ended. An init whose socket closes exits, whatever it is at: a thread of it does nothing but wait for that.
// So the program ends at once with its launcher, also where that is killed outright; the parent-death signal is there as well.
//
// # Inside
//
// Network: package nft describes the rules. lo, and a link eth0 whose other end is inside too; 198.18.0.1 and
// fd6c:6e6b::1, default routes to nobody. Where the machine has IPv6 switched off the room has none. Listeners are at the
// room's own addresses, port 1 (wire) and 53 (DNS), and at the loopback addresses for this machine's ports.
//
// Files: the machine's, but for /etc/resolv.conf, /etc/hosts, a fresh /proc, a fresh read-only /sys, and what the plan covers
// and replaces. What is covered or replaced is mounted on, in this mount namespace alone. The kernel undoes such a mount where
// the machine's side removes or renames what it lies on: someone outside who replaces a covered folder uncovers it.
//
// Identity: the plan's user, no capability in any set unless the plan names it, no_new_privs, securebits locked: uid 0 is a
// user like others. Init is the same, and undumpable. In a user namespace the groups are the caller's, of which the program
// sees its own and nobody's.
//
// # As without lnk
//
// The program has the caller's process group, session and terminal, limits, priority, umask and signal mask, and its
// descriptors 0, 1 and 2 as they are. Ctrl-C reaches it, and the launcher too, which has to live through it: whoever calls
// this package catches SIGINT and SIGQUIT (unless signal.Ignored says that its own caller ignores them, so that stays so
// inside), and passes on with Signal what was sent to lnk alone, SIGTERM for one. Stopping is done here (see jobs.go).
//
// Two things the Go runtime keeps from being so: of the signals that the caller ignored, SIGHUP and SIGINT and those that
// stop stay ignored, the others act by default again; and a standard descriptor that the caller had closed is /dev/null, as
// the runtime opens it before main. A nil in Options is closed inside.
//
// # Not here
//
// What may be called (package policy), the servers (proxy, dnsproxy), the settings, the choice of a user.
package netns
