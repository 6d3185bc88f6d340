package proxy

import (
	"context"
	"net"

	"lnk/policy"
)

// NotDNS takes a connection to port 53 of some address that turned out to carry something other than DNS: it is a call like any other,
// to whatever is at that address, and is refused. The metadata service's address may be a name server as well, and this is how the two are told apart.
func (w *Wire) NotDNS(c net.Conn) {
	client, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	f := w.newFlow(context.Background(), client)
	defer f.close()
	f.destined()
	d := policy.Decision{Reason: policy.ReasonMalformed}
	if policy.Classify(f.to.Addr()) == policy.ClassMetadata {
		d.Reason = policy.ReasonMetadata
	}
	if open := w.Gate.Check(); !open.Allowed {
		d = open
	}
	f.refuseCall(f.call(f.verb(), policy.Host{}), d, greeting{})
}
