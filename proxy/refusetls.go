package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"lnk/policy"
)

// A refused TLS call is answered in words too: the handshake is completed with a certificate of the sandbox's own authority, and whatever
// is asked gets the same 403 that plain HTTP gets. A client that doesn't know the authority sees a certificate that it doesn't trust,
// which is as prompt an end as any.

// refusalTime bounds all of such an answer, handshake and request: nothing else is waiting on it.
const refusalTime = 5 * time.Second

type refusalKey struct{}

// refusal is what is to be said on a connection.
type refusal struct {
	call     *call
	decision policy.Decision
	done     chan struct{}
}

// refusalConn is the client's connection below the handshake; the server closes it when it has said its words.
type refusalConn struct {
	net.Conn
	in      replay
	refusal *refusal
}

func (c *refusalConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// newRefusalFront makes the server that answers refused TLS calls, and the listener that hands them to it.
func newRefusalFront(a *Authority) (*http.Server, *handoff) {
	config := &tls.Config{
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
			host := h.ServerName
			if host == "" {
				host = h.Conn.(*refusalConn).refusal.call.host
			}
			return a.certificate(host)
		},
	}
	s := &http.Server{
		Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			said := r.Context().Value(refusalKey{}).(*refusal)
			rw.Header().Set("Connection", "close")
			writeRefusal(rw, said.call, said.decision)
		}),
		TLSConfig:      config,
		MaxHeaderBytes: maxHeaderBytes,
		ReadTimeout:    refusalTime,
		WriteTimeout:   refusalTime,
		IdleTimeout:    refusalTime,
		ErrorLog:       discard,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, refusalKey{}, refusalOf(c))
		},
		ConnState: func(c net.Conn, s http.ConnState) {
			if s == http.StateClosed {
				close(refusalOf(c).done)
			}
		},
	}
	return s, newHandoff()
}

func refusalOf(c net.Conn) *refusal { return c.(*tls.Conn).NetConn().(*refusalConn).refusal }

// answerTLS says why a TLS call was refused, and ends with the client's connection.
func (f *flow) answerTLS(c *call, d policy.Decision, g greeting) {
	said := &refusal{call: c, decision: d, done: make(chan struct{})}
	f.client.SetDeadline(time.Now().Add(refusalTime))
	below := &refusalConn{Conn: f.client, in: replay{first: bytes.Clone(g.bytes), rest: f.client}, refusal: said}
	if f.wire.secure.give(tls.Server(below, f.wire.refusals.TLSConfig)) {
		<-said.done
	}
}
