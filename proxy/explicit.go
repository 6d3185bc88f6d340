package proxy

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"

	"lnk/policy"
	"lnk/wirelog"
)

// The explicit proxy is for programs that insist on one: CONNECT, HTTP requests with an absolute target, and SOCKS5. It is a door of the same
// wire: what it is asked for is judged as a connection to that name would be, and what goes through a tunnel is judged again.

// explicitDoor is where it listens, as the sandbox sees it.
var explicitDoor = netip.AddrPortFrom(policy.ProxyAddr, policy.ProxyPort)

// serveExplicit takes a connection to the explicit proxy.
func (f *flow) serveExplicit() {
	g := f.sniff(f.wire.Limits.FirstByte, f.wire.Limits.Hello)
	switch {
	case g.protocol == httpText:
		f.serveHTTP(g, nil)
	case len(g.bytes) > 0 && g.bytes[0] == socksVersion:
		f.serveSOCKS(g)
	default:
		f.refuseCall(f.call(wirelog.Unknown, policy.Host{}), policy.Decision{Reason: policy.ReasonMalformed}, g)
	}
}

// explicitTarget is what a request asks the explicit proxy for: a tunnel's target, or an absolute one's host.
func (w *Wire) explicitTarget(r *http.Request) (destination, error) {
	var defaultPort uint16
	switch {
	case r.Method == http.MethodConnect:
	case r.URL.Scheme == "http" && r.URL.Host != "":
		defaultPort = portHTTP
	default:
		return destination{}, errors.New("neither a tunnel nor an absolute target")
	}
	host, port, err := policy.ParseHostPort(r.Host, defaultPort)
	if err != nil {
		return destination{}, err
	}
	return w.askedFor(host, port), nil
}

// serveTunnel answers a CONNECT: once its upstream is reached, the flow goes on as a connection to it.
func (h *httpFlow) serveTunnel(rw http.ResponseWriter, r *http.Request, where destination) {
	d, to := h.wire.judge(&where, policy.Host{})
	if !d.Allowed {
		c := h.callTo(&where, where.verb(), policy.Host{})
		h.refuseRequest(rw, c, d)
		c.close()
		return
	}
	conn, _, err := upgradeWriter{rw}.Hijack()
	if err != nil {
		return
	}
	defer h.finish()
	h.destination, h.pre = where, conn.(*frontConn).first
	h.tunnel(to, func(err error) {
		answer := "HTTP/1.1 200 Connection established\r\n\r\n"
		if e := (&dialError{}); errors.As(err, &e) {
			status := http.StatusBadGateway
			if e.refused {
				status = http.StatusForbidden
			}
			words := fmt.Sprintf("lnk: %s: %s\n", where.target(), e.decision.Reason)
			answer = fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
				status, http.StatusText(status), len(words), words)
		}
		io.WriteString(h.client, answer)
	})
}

// tunnel reaches where the flow goes, answers the client in its proxy's own terms, and goes on as on any allowed connection.
func (f *flow) tunnel(to dest, answer func(error)) {
	c := f.call(f.verb(), policy.Host{})
	got, err := f.reach(to)
	answer(err)
	if err != nil {
		c.notReached(err, greeting{})
		return
	}
	f.converse(c, f.dialedAlready(c, got))
}
