// Command world-client is a client for the small internet: a Go program as people write them, with a resolver, a TLS
// and post-quantum key shares of its own.
//
//	world-client get URL      prints the body and, on stderr, the key exchange and the certificate's issuer
//	world-client loops N URL  gets URL N times, each on a connection of its own
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "world-client:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "get":
		return get(args[1], os.Stdout)
	case len(args) == 3 && args[0] == "loops":
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		for i := range n {
			if err := get(args[2], io.Discard); err != nil {
				return fmt.Errorf("call %d of %d: %w", i+1, n, err)
			}
		}
		return nil
	}
	return fmt.Errorf("usage: world-client get URL | loops N URL")
}

func get(url string, to io.Writer) error {
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true}}
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if state := answer.TLS; state != nil {
		fmt.Fprintf(os.Stderr, "%s %s issuer=%s\n", tls.VersionName(state.Version), state.CurveID, state.PeerCertificates[0].Issuer.CommonName)
	}
	_, err = io.Copy(to, answer.Body)
	return err
}
