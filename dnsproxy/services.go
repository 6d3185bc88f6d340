package dnsproxy

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// stripped is a message whose HTTPS and SVCB records (RFC 9460) have lost what would hide a call from the proxy or send it where there is no
// way: the key of an encrypted ClientHello, and HTTP/3, which is UDP. It also returns the addresses that they hint at. Records that can't be
// read are as good as none: they are only ever an improvement of the addresses.
func stripped(q question, m *message) (*message, []netip.Addr) {
	var hints []netip.Addr
	changed := false
	rewritten, err := m.rewrite(func(parts *dns.Msg) {
		answer, extra := stripSection(&parts.Answer), stripSection(&parts.Extra)
		if changed = answer || extra; changed {
			parts.AuthenticatedData = false
		}
		hints = appendHints(appendHints(nil, parts.Answer), parts.Extra)
	})
	switch {
	case err != nil:
		return empty(q, dns.RcodeSuccess), nil
	case changed:
		return rewritten, hints
	}
	return m, hints
}

// stripSection also drops the signatures of the records that it changes: they'd no longer fit.
func stripSection(rrs *[]dns.RR) (changed bool) {
	kept := (*rrs)[:0:0]
	for _, rr := range *rrs {
		s := service(rr)
		if s == nil {
			kept = append(kept, rr)
			continue
		}
		stripped, usable := strip(s)
		changed = changed || stripped
		if usable {
			kept = append(kept, rr)
		}
	}
	if changed {
		*rrs = slices.DeleteFunc(kept, signsService)
	}
	return changed
}

func service(rr dns.RR) *dns.SVCB {
	switch rr := rr.(type) {
	case *dns.HTTPS:
		return &rr.SVCB
	case *dns.SVCB:
		return rr
	}
	return nil
}

func signsService(rr dns.RR) bool {
	s, ok := rr.(*dns.RRSIG)
	return ok && (s.TypeCovered == dns.TypeHTTPS || s.TypeCovered == dns.TypeSVCB)
}

// strip changes one record. It is of no use any more where all that it offered was HTTP/3: without an alpn a client would take it for HTTP/1.1,
// which it said there isn't.
func strip(s *dns.SVCB) (changed, usable bool) {
	if !slices.ContainsFunc(s.Value, hides) {
		return false, true
	}
	noDefault := slices.ContainsFunc(s.Value, func(v dns.SVCBKeyValue) bool { return v.Key() == dns.SVCB_NO_DEFAULT_ALPN })
	var kept []dns.SVCBKeyValue
	gone := []dns.SVCBKey{dns.SVCB_ECHCONFIG}
	for _, v := range s.Value {
		switch v := v.(type) {
		case *dns.SVCBECHConfig:
			continue
		case *dns.SVCBAlpn:
			v.Alpn = slices.DeleteFunc(v.Alpn, overUDP)
			if len(v.Alpn) == 0 {
				gone = append(gone, dns.SVCB_ALPN)
				continue
			}
		}
		kept = append(kept, v)
	}
	s.Value = withoutMandatory(kept, gone)
	return true, !noDefault || !slices.Contains(gone, dns.SVCB_ALPN)
}

// hides reports whether a parameter holds what strip takes out.
func hides(v dns.SVCBKeyValue) bool {
	if v, ok := v.(*dns.SVCBAlpn); ok {
		return slices.ContainsFunc(v.Alpn, overUDP)
	}
	return v.Key() == dns.SVCB_ECHCONFIG
}

// overUDP reports whether a protocol is HTTP/3 (h3, or a draft of it: h3-29).
func overUDP(alpn string) bool { return alpn == "h3" || strings.HasPrefix(alpn, "h3-") }

// withoutMandatory takes keys out of the list of those that a client must understand: it may only name keys that are there.
func withoutMandatory(values []dns.SVCBKeyValue, gone []dns.SVCBKey) []dns.SVCBKeyValue {
	return slices.DeleteFunc(values, func(v dns.SVCBKeyValue) bool {
		m, ok := v.(*dns.SVCBMandatory)
		if !ok {
			return false
		}
		m.Code = slices.DeleteFunc(m.Code, func(k dns.SVCBKey) bool { return slices.Contains(gone, k) })
		return len(m.Code) == 0
	})
}

// appendHints adds the address hints of services.
func appendHints(all []netip.Addr, rrs []dns.RR) []netip.Addr {
	for _, rr := range rrs {
		s := service(rr)
		if s == nil {
			continue
		}
		for _, v := range s.Value {
			switch v := v.(type) {
			case *dns.SVCBIPv4Hint:
				all = appendIPs(all, v.Hint)
			case *dns.SVCBIPv6Hint:
				all = appendIPs(all, v.Hint)
			}
		}
	}
	return all
}

func appendIPs(all []netip.Addr, ips []net.IP) []netip.Addr {
	for _, ip := range ips {
		if a, ok := netip.AddrFromSlice(ip); ok {
			all = append(all, plain(a))
		}
	}
	return all
}
