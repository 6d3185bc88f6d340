// Package internet is a small internet in network namespaces, and a machine beside it, for tests and for the demo.
//
//	[sandbox] --wire--> [the machine: a namespace] --veth--> [the internet: a namespace]
//
// Enter, the first line of a TestMain or a main, starts the program again in mount, network, pid, ipc and uts
// namespaces of its own. What runs there is on the machine: its files (/etc, /var, /usr/local, /run, /tmp, homes) are
// private copies, its only link leads to the small internet, and everything in it ends with the program. So a test of a
// call that must be refused can't reach a real network, however wrong the product is, and nothing a test writes
// stays.
//
// Open lays the internet, once for a process: a namespace that owns 203.0.113.0/24, 198.51.100.0/24 and 2001:db8::/32
// and in which real servers (nginx, OpenSSH, PostgreSQL, unbound), a scripted DNS server and web and raw servers
// written in Go listen. Each server keeps a record of the calls that reached it, byte by byte: a test judges by the server's record, not by a
// client's error. Traps on the metadata addresses of the clouds record every packet.
//
// New gives a test the World with empty records and fresh home folders, and at the test's end compares the machine with what it
// was before.
//
// The test's own code runs on the machine, so that a command forgotten anywhere leads nowhere. A listener is opened in the internet on a
// thread that enters it for that and is thrown away; a socket stays in the namespace it was made in. One test at a
// time uses the world: tests that use it are not parallel.
package internet
