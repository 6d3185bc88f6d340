// Command lnk runs programs in a network of their own, in which every call goes through a wire that judges it by name,
// logs it in one line and can be cut.
//
// All text that a user reads is made here. main does nothing but hand the process over: to a room's init where it is
// one, or to run, whose answer it exits with. There is one os.Exit.
//
// A command that works on settings becomes the user whose they are before it touches any: under sudo, the user who called it.
//
// Exit statuses: those of sandbox run are in run.go. Elsewhere 0, 1 where a command couldn't do what it was asked
// (or its answer is no: why, check), 2 where it wasn't asked properly
// (and whatever goes wrong in why).
package main
