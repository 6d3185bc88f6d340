// Package control stops and pauses the wire, from outside the sandbox: the kill switch, the pauses, the gate that every
// proxy looks at before a call, the watch by which a proxy pauses its own sandbox, and the commands that run with a
// stop.
//
// # Marks
//
// The kill switch and a pause are marks: files that count by being there, whatever they are and whatever they hold (a
// folder, a dangling link, a file that nobody can read). A mark is claimed first and inscribed after: mknod(2) makes
// it, at once and without a descriptor, unless one is there already; then its text is written, which only tells a
// person why, who and since when. So a process without descriptors, or on a full disk, can still pause, the first of
// two pauses keeps its reason, and a reader never needs the text to know.
//
// # The gate
//
// Each proxy has a Gate of its own and looks through it for each call and four times a second. A look opens no file
// while the wire is open. It answers "open" for one reason only: the folders of the marks are there, can be read and
// are the same as before the look, and neither mark is in them. All else is closed: an error of any kind, a folder
// that is gone, a file system that doesn't answer. A mark that vanishes together with its folder, because the folder
// was replaced or another file system was mounted on it, is carried over and written into the new one: a mark ends
// only by being taken out of its folder.
//
// # A pause that is held
//
// Gate.Hold pauses in the process first and on disk second. While the mark can't be made, the hold counts and nothing
// takes it back: no command reaches into the process, Resume finds nothing to remove, and Gate.Watch tries the mark
// again on every tick. Once the mark is made, only the file counts: removing it resumes the sandbox, also while its
// text is still owed.
//
// # The watch
//
// Watch counts the calls and lookups that the policy refused, in two sliding windows, and holds the gate when either is
// full, or at the first call to a metadata service. What was refused because the wire was closed or over its limit
// isn't told to it. Each time the gate opens again, counting starts from nothing.
//
// # Concurrency and place
//
// All exported functions and methods may be used from many goroutines. Looks don't wait for each other; only where a
// file system hangs do they run into a bound, and give up after three seconds, so that it costs a bounded number of
// threads. The package starts no goroutine that outlives the call that started it, with one exception that Gate.Watch
// names. Everything runs in the machine's namespaces, as the settings' user, and nothing here reads or writes outside
// the settings folder, but for the desktop's bus and what the user registered to run with a stop.
//
// It doesn't end calls (the proxy does, told by Gate.Watch), write the log, or know which sandboxes run.
package control
