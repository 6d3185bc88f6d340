package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"lnk/policy"
)

func TestARefusedTLSCallHearsWhyFromTheSandboxesOwnAuthority(t *testing.T) {
	for _, proto := range []string{"h2", "http/1.1"} {
		t.Run(proto, func(t *testing.T) {
			l := newLab(t, "allowed.test")
			l.named("allowed.test", allowedAddr)
			rec := l.server(allowedAddr+":443", recording)
			pool := x509.NewCertPool()
			pool.AppendCertsFromPEM(l.wire.Authority.PEM())
			transport := &http.Transport{
				DialTLSContext: func(context.Context, string, string) (net.Conn, error) {
					t := tls.Client(l.call(allowedAddr+":443"), &tls.Config{RootCAs: pool, ServerName: "denied.test", NextProtos: []string{proto}})
					return t, t.Handshake()
				},
				Protocols: new(http.Protocols),
			}
			transport.Protocols.SetHTTP1(proto != "h2")
			transport.Protocols.SetHTTP2(proto == "h2")
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
			r, err := client.Get("https://denied.test/secret")
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			b, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != 403 || !strings.Contains(string(b), "denied.test:443") || strings.Contains(string(b), "secret") {
				t.Errorf("answer: %d %q, %v", r.StatusCode, b, err)
			}
			l.wantLines("connect denied.test:443 refused (" + string(policy.ReasonShownNotAllowed) + ")")
			l.stop()
			if rec.bytes() != "" {
				t.Errorf("the server read %q", rec.bytes())
			}
		})
	}
}

func TestARefusedTLSCallByAddressGetsACertificateForTheAddress(t *testing.T) {
	l := newLab(t, "allowed.test")
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(l.wire.Authority.PEM())
	c := tls.Client(l.call(evilAddr+":443"), &tls.Config{RootCAs: pool, ServerName: evilAddr})
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+evilAddr+"\r\n\r\n")
	if got := readAll(t, c); !strings.HasPrefix(got, "HTTP/1.1 403 ") || !strings.Contains(got, "-a "+evilAddr) {
		t.Errorf("answer: %q", got)
	}
}
