// Package nft makes the one table of a room, `inet lnk`: what leaves a program goes to the wire, or is refused at once.
//
// # Model
//
// Four chains, in the words of `nft list ruleset` (testdata/table.golden is the kernel's own listing):
//
//   - calls (nat, output, dstnat): port 53 over UDP and TCP, to any address, loopback too, goes to the DNS listeners. What
//     is for an address of the room itself is left alone. Every other TCP connection goes to the wire's listeners.
//   - others (filter, output): what calls took, what is established, what is for the room itself and what the kernel sends
//     to keep IPv6 on a link going pass. All else is counted and rejected: TCP by a reset, the rest as admin-prohibited.
//     The sender hears of it in the same system call (UDP: EPERM), so nothing waits for a timeout.
//   - arrivals (filter, input): only what came over lo. A frame written to the link by hand arrives nowhere.
//   - passing (filter, forward): nothing. A room isn't a router.
//
// Nothing hangs on these rules being there: a room has no link to the outside, so without them its network is gone.
//
// # Why dnat to the room's own address, and not redirect
//
// In an output hook `redirect` turns the destination into 127.0.0.1 or ::1. A socket that is bound to eth0
// (SO_BINDTODEVICE, or an IPv6 scope as in fe80::1%eth0) can't reach those: the route to them is lo's, so the packet
// leaves by eth0 and is lost in silence. The route to Addr4 and Addr6 is eth0's as well as local, so dnat to them works for
// a socket with and without a device. A listener is bound to exactly these addresses: on an unspecified one a UDP answer
// may leave from another, which conntrack doesn't know, and the client waits in vain.
//
// In an output hook oif is the interface that was chosen before the new destination, so rules on it speak of the old one.
//
// # Use
//
// Install is called once, by a room's init, in the room's own network namespace, before anything else runs there and after
// the links are up. It needs CAP_NET_ADMIN over that namespace and nothing else: no nft binary, no file.
package nft
