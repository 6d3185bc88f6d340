// Package sandbox is one run from start to end, and the list of the runs there are.
//
// A run is made in this order, and undone in the other:
//
//	the room's init is cloned                while the process may still be root
//	the process becomes the user             for good; from here on root touches nothing
//	settings, spec, working folder           read as that user
//	the name is claimed                      runs/NAME.json; two runs never share a name
//	the room is built                        links, rules, listeners, a call that proves them
//	log, traffic, gate, names, wire          serving before the program exists
//	go                                       the program runs
//	…                                        signals are passed on, the spec is looked at again
//	the program ends                         open calls are logged as ended, everything goes
//
// Whatever goes wrong before go: nothing was run, all is undone, one error comes back. A run never falls back to a
// network without a wire; mode host, which has none, has to be asked for by that word.
//
// Everything here runs in the machine's namespaces. Each goroutine that a run starts is waited for before Run
// returns. Of the process's own state a run changes what can't be otherwise: its user, for good, and which signals
// it takes, until it returns; so a process makes one run.
//
// What a run has to say while it goes on, it tells as an Event. The words are the caller's.
package sandbox
