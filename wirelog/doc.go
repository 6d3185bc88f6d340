// Package wirelog is the wire's log and its reader, and the count of what each proxy carries.
//
// A Log takes a Record for each call and one more when an allowed call ends, applies the limits (120 lines a minute of
// each outcome; one a minute of refusals that cost a sandbox nothing), and writes each line with one write(2). What is
// left out is counted, and the outcome's next line says how many. A Record has no place for a path, a header or a body:
// its Target is made by functions that take a host and a port, and that cut where a host ends.
//
//	2026-11-30T04:21:07.123Z build connect api.github.com:443 allowed
//	2026-11-30T04:21:09.004Z build connect api.github.com:443 ended 1834 out 20117 in
//	2026-11-30T04:21:09.310Z build tcp db.corp:5432 refused (not an allowed endpoint) (and 12 more refused since)
//
// Read, Follow and Summarize read the log with its rotated files. Traffic counts bytes and keeps a small file of them
// for as long as the proxy runs.
//
// # One file, many writers
//
// Every sandbox's proxy is a process of its own, and all write one file. They share nothing but the files: no server,
// no memory. Before each line a writer takes the file's lock (flock), looks whether the file that it has open is still
// the one called wire.log, rotates if the line would take it past its size, writes, and gives the lock back. So, as
// long as nobody is stopped within these few microseconds:
//
//   - no file is larger than its limit (but for a single line longer than that);
//   - one process rotates at a time, and nobody writes meanwhile.
//
// A lock that a stopped process holds would stop all others with it. So nobody waits for it longer than 250 ms, and
// after that not at all until it is free again: the lock only keeps files to their size. That no line is lost, torn or
// doubled rests on the following alone, with or without the lock:
//
//   - A line is one write to a descriptor opened with O_APPEND: the kernel puts each behind the last, whole.
//   - Rotation only renames, to names that are free (RENAME_NOREPLACE), the oldest file first. Whatever comes in
//     between, no file is replaced and none passes another.
//   - A step of a rotation that comes late, because its process slept while others rotated, may find another file under
//     the name that it meant. So each rename is checked afterwards and taken back. Only a file beyond the last number
//     is ever deleted, and a file gets that number only to be deleted.
//   - A writer that slept between its look and its write adds its line to the file that was the log then: it is in .1
//     to .4, behind lines that are younger. If that file has been dropped, the writer finds that it has no name any
//     more, and writes the line again in the log.
//   - A writer that is killed in mid-write can leave a piece of a line, and so can a full disk. Whoever writes next
//     begins a line of its own after it; with the lock, a writer that the disk failed takes its piece away. The reader
//     gives a piece as unreadable.
//   - The lock dies with its holder, as the kernel closes its files.
//
// What is not held: a disk that fills while its writer is stopped within that line's microseconds; the oldest file for
// one rotation more, if a process wakes in the midst of a rotation within the microseconds in which another drops a
// file; and a file system shared by several machines, where neither O_APPEND nor flock is what it is on one.
//
// The log must be a regular file of this user's with no other name. A link, folder or pipe at its place is never
// opened: that is an outage. At a rotated file's place it is moved aside, neither opened nor deleted. If the log is
// moved away, cut or deleted, or its folder replaced, the next line goes to the file that the path means then.
//
// # An outage
//
// When a line can't be written, the calls go on. Write returns the error, counts the record as left out, and
// Options.Notice is told; every later Write tries again, and so does a timer. The first line that can be written is
// followed by what is unsaid. Writable lets a wire that must not work unseen refuse its calls instead.
//
// The package runs in the machine's namespaces, as the settings' user. It prints nothing, knows no policy beyond the
// limits, and doesn't compress, ship or sign logs.
package wirelog
