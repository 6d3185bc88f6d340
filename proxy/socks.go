package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"lnk/policy"
)

// The part of SOCKS5 that the wire speaks: CONNECT without authentication (RFC 1928).
const (
	socksVersion    = 5
	socksNoAuth     = 0
	socksNoMethod   = 0xff
	socksConnect    = 1
	socksIPv4       = 1
	socksDomainName = 3
	socksIPv6       = 4
)

// Replies of RFC 1928, section 6.
const (
	socksSucceeded      = 0
	socksFailure        = 1
	socksNotAllowed     = 2
	socksUnreachable    = 4
	socksRefused        = 5
	socksTimedOut       = 6
	socksNoSuchCommand  = 7
	socksNoSuchAddrType = 8
)

// errSOCKS is a request that can't be carried out, and the reply that says so.
type errSOCKS struct{ reply byte }

func (e errSOCKS) Error() string { return fmt.Sprintf("SOCKS reply %d", e.reply) }

// serveSOCKS takes a connection that speaks SOCKS5.
func (f *flow) serveSOCKS(g greeting) {
	f.client.SetReadDeadline(time.Now().Add(f.wire.Limits.Hello))
	in := &replay{first: g.bytes, rest: f.client}
	host, port, err := readSOCKS(in, f.client)
	f.client.SetReadDeadline(time.Time{})
	if err != nil {
		if e := (errSOCKS{}); errors.As(err, &e) {
			f.answerSOCKS(e.reply)
		}
		f.refuseCall(f.call(f.verb(), policy.Host{}), policy.Decision{Reason: policy.ReasonMalformed}, g)
		return
	}
	f.destination, f.pre = f.wire.askedFor(host, port), bytes.Clone(in.first)
	d, to := f.wire.judge(&f.destination, policy.Host{})
	if !d.Allowed {
		f.answerSOCKS(socksNotAllowed)
		f.refuseCall(f.call(f.verb(), policy.Host{}), d, g)
		return
	}
	f.tunnel(to, func(err error) { f.answerSOCKS(socksReply(err)) })
}

// readSOCKS reads the client's two messages and answers the first.
func readSOCKS(in io.Reader, out io.Writer) (policy.Host, uint16, error) {
	var head [2]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return policy.Host{}, 0, err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(in, methods); err != nil {
		return policy.Host{}, 0, err
	}
	method := byte(socksNoMethod)
	if bytes.IndexByte(methods, socksNoAuth) >= 0 {
		method = socksNoAuth
	}
	if _, err := out.Write([]byte{socksVersion, method}); err != nil {
		return policy.Host{}, 0, err
	}
	if method == socksNoMethod {
		return policy.Host{}, 0, errors.New("the client would authenticate itself")
	}
	return readSOCKSRequest(in)
}

func readSOCKSRequest(in io.Reader) (policy.Host, uint16, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return policy.Host{}, 0, err
	}
	host, err := readSOCKSHost(in, head[3])
	if err != nil {
		return policy.Host{}, 0, err
	}
	var port [2]byte
	if _, err := io.ReadFull(in, port[:]); err != nil {
		return policy.Host{}, 0, err
	}
	if head[0] != socksVersion || head[1] != socksConnect {
		return policy.Host{}, 0, errSOCKS{socksNoSuchCommand}
	}
	return host, binary.BigEndian.Uint16(port[:]), nil
}

func readSOCKSHost(in io.Reader, kind byte) (policy.Host, error) {
	length := [1]byte{}
	switch kind {
	case socksIPv4:
		length[0] = 4
	case socksIPv6:
		length[0] = 16
	case socksDomainName:
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return policy.Host{}, err
		}
	default:
		return policy.Host{}, errSOCKS{socksNoSuchAddrType}
	}
	b := make([]byte, length[0])
	if _, err := io.ReadFull(in, b); err != nil {
		return policy.Host{}, err
	}
	if kind == socksDomainName {
		return policy.ParseHost(string(b))
	}
	addr, _ := netip.AddrFromSlice(b)
	return policy.HostAt(addr), nil
}

// answerSOCKS sends a reply. The address in it is of no use to the client, and none is told.
func (f *flow) answerSOCKS(reply byte) {
	f.client.Write([]byte{socksVersion, reply, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
}

// socksReply is how a dial is told.
func socksReply(err error) byte {
	if err == nil {
		return socksSucceeded
	}
	e := failed(netip.AddrPort{}, err)
	if e.refused {
		return socksNotAllowed
	}
	switch e.decision.Reason {
	case policy.ReasonConnRefused:
		return socksRefused
	case policy.ReasonUnreachable, policy.ReasonNoSuchName:
		return socksUnreachable
	case policy.ReasonTimedOut:
		return socksTimedOut
	}
	return socksFailure
}

// replay reads what was read already, and then the rest.
type replay struct {
	first []byte
	rest  io.Reader
}

func (r *replay) Read(p []byte) (int, error) {
	if len(r.first) == 0 {
		return r.rest.Read(p)
	}
	n := copy(p, r.first)
	r.first = r.first[n:]
	return n, nil
}
