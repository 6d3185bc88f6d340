package dnsproxy

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// stripServices takes out of HTTPS and SVCB records (RFC 9460) what would hide a call from the proxy or send it where there is no
// way: the key of an encrypted ClientHello, and HTTP/3, which is UDP. It reports whether anything was changed.
func stripServices(m *dns.Msg) bool {
	answer := stripSection(&m.Answer)
	extra := stripSection(&m.Extra)
	return answer || extra
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

// appendHints adds the address hints of a service.
func appendHints(all []netip.Addr, s *dns.SVCB) []netip.Addr {
	for _, v := range s.Value {
		switch v := v.(type) {
		case *dns.SVCBIPv4Hint:
			for _, ip := range v.Hint {
				all = appendIP(all, ip)
			}
		case *dns.SVCBIPv6Hint:
			for _, ip := range v.Hint {
				all = appendIP(all, ip)
			}
		}
	}
	return all
}
