package proxy

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"lnk/policy"
	"lnk/wirelog"
)

// The HTTP front serves flows whose clients speak HTTP in the clear, with net/http on both sides: HTTP/1.x, and HTTP/2 with prior
// knowledge. Each request is a call of its own. What goes upstream is written anew from what was read, so that both ends read one and the same
// request, whatever the client's bytes could also have meant.

const (
	// headerTime bounds a request's head from its first byte on.
	headerTime = 30 * time.Second
	// continueTime is how long an upstream may think about an Expect: 100-continue before the body is sent anyway, as curl does.
	continueTime = time.Second
	// maxHeaderBytes bounds a request's head and a response's.
	maxHeaderBytes = 64 << 10
)

// httpFlow is a flow that is served as HTTP.
type httpFlow struct {
	*flow
	early     *upstream // the connection's upstream, dialled already; nil where there is none
	transport *http.Transport
	done      chan struct{} // closed when the server has let go of the connection
	once      sync.Once
	h2        bool         // the client speaks HTTP/2
	served    atomic.Bool  // a handler has the request that is being answered
	unread    atomic.Bool  // the server has answered a request that couldn't be read
	out, in   atomic.Int64 // bytes carried on the upstream connections
	read      atomic.Int64 // bytes read from the client
	counted   atomic.Int64 // of these, what the counters have of requests that were refused
	hijacked  atomic.Bool  // an upgrade has taken the connection from the server
}

type httpFlowKey struct{}

type exchangeKey struct{}

// httpCall is one request's call and where it goes, on its way through the transport.
type httpCall struct {
	*call
	to dest
}

// newHTTPFront makes the server of all HTTP flows of a wire, and the listener that hands them to it.
func newHTTPFront() (*http.Server, *handoff) {
	relay := &httputil.ReverseProxy{
		Rewrite:      rewrite,
		Transport:    perFlow{},
		ErrorHandler: upstreamFailed,
		ErrorLog:     discard,
		BufferPool:   copyBuffers{},
	}
	s := &http.Server{
		Handler:           http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { serveRequest(relay, rw, r) }),
		ReadHeaderTimeout: headerTime,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          discard,
		ConnState:         func(c net.Conn, s http.ConnState) { c.(*frontConn).flow.state(s) },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, httpFlowKey{}, c.(*frontConn).flow)
		},
	}
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	return s, newHandoff()
}

// serveHTTP hands a flow to the HTTP front and waits until its connection has ended. early may be nil.
func (f *flow) serveHTTP(g greeting, early *upstream) {
	h := &httpFlow{flow: f, early: early, done: make(chan struct{}), h2: bytes.HasPrefix(g.bytes, []byte("PRI "))}
	h.transport = &http.Transport{
		DialContext:            h.dial,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    1,
		ExpectContinueTimeout:  continueTime,
		MaxResponseHeaderBytes: maxHeaderBytes,
		Protocols:              upstreamProtocols(h.h2),
	}
	defer h.transport.CloseIdleConnections()
	if !f.wire.plain.give(&frontConn{Conn: f.client, flow: h, first: g.bytes}) {
		return
	}
	<-h.done
	if h.unread.Load() {
		h.refuseUnread()
	}
}

// upstreamProtocols speaks upstream what the client speaks.
func upstreamProtocols(h2 bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(!h2)
	p.SetUnencryptedHTTP2(h2)
	return p
}

// refuseUnread writes the line of a request that couldn't be read. The server has answered it already.
func (h *httpFlow) refuseUnread() {
	c := h.call(wirelog.HTTP, policy.Host{})
	c.refuse(policy.Decision{Reason: policy.ReasonMalformed})
	h.countRefused()
	c.close()
}

// state follows the server's view of the connection. Between StateIdle (or the beginning) and a handler the server writes nothing but
// its own answer to a request that it can't read.
func (h *httpFlow) state(s http.ConnState) {
	switch s {
	case http.StateIdle:
		h.served.Store(false)
	case http.StateHijacked:
		h.hijacked.Store(true) // over when its handler is
	case http.StateClosed:
		h.finish()
	}
}

// wrote is told when the server writes to the client.
func (h *httpFlow) wrote() {
	if !h.h2 && !h.served.Load() {
		h.unread.Store(true)
	}
}

func (h *httpFlow) finish() { h.once.Do(func() { close(h.done) }) }

// serveRequest judges one request and carries or refuses it.
func serveRequest(relay *httputil.ReverseProxy, rw http.ResponseWriter, r *http.Request) {
	h := r.Context().Value(httpFlowKey{}).(*httpFlow)
	h.served.Store(true)
	where, shown, err := h.wanted(r)
	if h.explicit && err == nil && r.Method == http.MethodConnect {
		h.serveTunnel(rw, r, *where)
		return
	}
	c := h.callTo(where, wirelog.HTTP, shown)
	before := h.meter()
	defer func() {
		if r.ProtoMajor == 1 {
			now := h.meter()
			c.carried(now.out-before.out, now.in-before.in)
		}
		c.close()
		if h.hijacked.Load() {
			h.finish()
		}
	}()
	d, to := h.wire.judge(c.where, shown)
	if err != nil && (d.Allowed || d.Reason.Counts()) {
		d = policy.Decision{Reason: policy.ReasonMalformed}
	}
	if !d.Allowed {
		h.refuseRequest(rw, c, d)
		return
	}
	if r.ProtoMajor == 2 {
		r.Body, rw = countedBody{r.Body, c}, countedResponse{rw, c}
	} else {
		rw = upgradeWriter{rw}
	}
	trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if conn, ok := got.Conn.(*countedConn); ok {
			c.reached(conn.dialed)
		}
		c.allow()
	}}
	ctx := context.WithValue(httptrace.WithClientTrace(r.Context(), trace), exchangeKey{}, &httpCall{c, to})
	relay.ServeHTTP(rw, r.WithContext(ctx))
}

// refuseRequest refuses one request, in words.
func (h *httpFlow) refuseRequest(rw http.ResponseWriter, c *call, d policy.Decision) {
	c.refuse(d)
	h.countRefused()
	writeRefusal(rw, c, d)
}

// countRefused counts what the client has sent since the last refusal; it never went upstream.
func (h *httpFlow) countRefused() {
	read := h.read.Load()
	h.wire.Counter.Add(read-h.counted.Swap(read), 0)
}

// meter is what the flow's upstreams have carried so far. HTTP/1.x has one request at a time, so a request's share is a difference of two.
func (h *httpFlow) meter() (m struct{ out, in int64 }) {
	m.out, m.in = h.out.Load(), h.in.Load()
	return m
}

// wanted is where a request goes and the host that it shows: its Host, or that of an absolute target or an :authority, which net/http has
// put there. On the explicit proxy that host is where it goes.
func (h *httpFlow) wanted(r *http.Request) (*destination, policy.Host, error) {
	if h.explicit {
		where, err := h.wire.explicitTarget(r)
		if err != nil {
			return &h.destination, policy.Host{}, err
		}
		return &where, policy.Host{}, nil
	}
	if r.Host == "" {
		return &h.destination, policy.Host{}, nil
	}
	host, _, err := policy.ParseHostPort(r.Host, portHTTP)
	return &h.destination, host, err
}

// rewrite makes the request that goes upstream: the client's, with its target as it stood. The URL's host only names the upstream to the
// transport; what the server sees as Host is the client's.
func rewrite(p *httputil.ProxyRequest) {
	x := p.In.Context().Value(exchangeKey{}).(*httpCall)
	p.Out.URL = &url.URL{Scheme: "http", Host: x.to.key(), Opaque: p.In.URL.RequestURI()}
	if p.In.URL.Opaque != "" || p.In.URL.IsAbs() || len(p.Out.URL.Opaque) > 1 && p.Out.URL.Opaque[:2] == "//" {
		p.Out.URL = &url.URL{Scheme: "http", Host: x.to.key(), Path: p.In.URL.Path, RawPath: p.In.URL.RawPath, RawQuery: p.In.URL.RawQuery}
	}
	p.Out.Host = p.In.Host
	// The library takes away what other proxies wrote; on this wire that is the client's own word, and nothing is added to it.
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, set := p.In.Header[h]; set {
			p.Out.Header[h] = v
		}
	}
}

// key names a destination to a flow's transport, which keeps one idle connection for each.
func (d dest) key() string {
	host := d.host
	if host.IsZero() {
		host = policy.HostAt(policy.MachineAddr)
	}
	if a, is := host.Addr(); is {
		return netip.AddrPortFrom(a, d.port).String()
	}
	return net.JoinHostPort(host.String(), strconv.Itoa(int(d.port)))
}

// perFlow sends a request through the transport of its flow.
type perFlow struct{}

func (perFlow) RoundTrip(r *http.Request) (*http.Response, error) {
	return r.Context().Value(httpFlowKey{}).(*httpFlow).transport.RoundTrip(r)
}

// dial gives the transport the upstream that was dialled already, or dials where the request goes.
func (h *httpFlow) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	got, err := h.early.take()
	if err == nil && got.conn == nil {
		got, err = h.reach(ctx.Value(exchangeKey{}).(*httpCall).to)
	}
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: got.conn, dialed: got, flow: h}, nil
}
