// Package dnsproxy answers a sandbox's DNS queries, and remembers which names each address was given for.
//
// Its model: every query that leaves the sandbox, to whatever address, arrives at a Server. The Server judges the name that is
// asked. An allowed name is asked of the machine's own resolver, and the answer is passed on as it is; its addresses go in the
// Book, so that the proxy knows by name any connection that follows. A name that isn't allowed leaves the machine in no record type: it is
// answered with a refusal address of its own, so that the call that follows arrives at the proxy and is refused in words.
//
// The order for one query: a message that isn't one question is answered with its error; then the names that the RFCs or the
// sandbox itself give a fixed answer; then the gate; then the rules; then the machine's /etc/hosts; then the cache; then the machine's
// resolver. Nothing is sent before the gate and the rules have been asked, whatever is cached.
//
// Concurrency: each socket has readers, which answer at once all that needs no upstream: what is cached, fixed or refused is never held up by
// a name server. Any other query gets a goroutine; equal questions meanwhile are asked once. All of it is bounded, and Serve waits
// for all of it. The gate is looked at for each query, together for those read at once, and four times a second while lookups are under
// way: those end when it closes.
//
// The sockets are opened in the sandbox's network namespace and handed over. The code runs in the machine's: so do its
// questions to the machine's resolver. A reply leaves by the socket its query came on, or the kernel couldn't undo the redirect.
//
// A message from the machine's resolver is passed on octet for octet, but for the client's id and spelling, TTLs counted down, and HTTPS and SVCB
// records that would hide the call that follows (services.go). github.com/miekg/dns is used inside only: no exported signature has its
// types.
//
// It doesn't judge connections, doesn't validate DNSSEC, and doesn't recurse.
package dnsproxy
