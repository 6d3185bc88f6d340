// Package policy holds the decisions of the wire, and nothing else: no clock, no socket, no file, no DNS.
//
// Its model: a call goes to an address and port, which may have been given for names; it may show a name of its
// own (an SNI, a Host, a CONNECT). Rules answer, for each of these, with a Decision that carries the reason and the rule. A
// zero value of every type denies.
//
// The order in which the wire asks:
//
//	Rules.Lookup      may this name be looked up?                                (dnsproxy)
//	Rules.Connection  may a call go to this address and port, under these names?  (proxy)
//	Rules.Shown       may this name or address, which the call shows, be called?  (proxy)
//	Rules.Address     may this address, about to be dialled for that host, be?    (proxy, last of all)
//
// All values are immutable and safe for use from many goroutines.
package policy
