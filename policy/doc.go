// Package policy holds the decisions of the wire, and nothing else: no clock, no socket, no file, no DNS.
//
// Its model: a call goes to an address and port, which may have been given for names; it may show a name of its
// own (an SNI, a Host, a CONNECT). Rules answer, for each of these, with a Decision that carries the reason and the rule. A
// zero value of every type denies.
//
// The order in which the wire asks:
//
//	Fixed             has this name an answer that nobody is asked for?              (dnsproxy)
//	Rules.Lookup      may this name be looked up?                                    (dnsproxy)
//	Rules.Port        may this port of the machine be called?                        (proxy)
//	Rules.Connection  may a call go to this address and port, under these names?     (proxy)
//	Rules.Shown       may this name or address, which the call shows, be called?     (proxy)
//	Rules.Address     may this address, about to be dialled for that host, be?       (proxy, last of all)
//
// What counts as one thing has one form: a Name is in lower case, in A-labels and without a trailing dot, whoever spelt it; a Host
// that is an address, in whatever number system, is a netip.Addr; an IPv6 address that holds an IPv4 address is judged as
// that address; an Endpoint prints as it is written in a spec. So rules, address book, log and counters can't disagree
// about a spelling. What has no such form is an error, and is refused as malformed.
//
// Whatever the rules allow, some addresses are never called: a cloud's metadata services, link-local, multicast, broadcast and
// reserved ones. This machine's are judged as its ports. Private ones are allowed only by name, and by an exact one.
//
// All values are immutable and safe for use from many goroutines; nothing here depends on a namespace. What a host resolves
// to, which addresses the machine's interfaces have and whether the sandbox is paused are for others to say.
package policy
