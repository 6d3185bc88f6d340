package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"lnk/policy"
)

// writeRefusal answers a refused request in words: what was refused, why, and the command that allows it.
func writeRefusal(rw http.ResponseWriter, c *call, d policy.Decision) {
	status := http.StatusForbidden
	if d.Reason == policy.ReasonMalformed {
		status = http.StatusBadRequest
	}
	writeWords(rw, status, refusalWords(c, d))
}

// refusalWords are the text of a refusal. They hold nothing of the request but its target, which was cleaned for the log.
func refusalWords(c *call, d policy.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "lnk: refused %s: %s\n", wanted(c), d.Reason)
	if d.Detail != "" {
		fmt.Fprintf(&b, "%s\n", d.Detail)
	}
	if hint := allowedBy(c, d.Reason); hint != "" {
		fmt.Fprintf(&b, "%s\n", hint)
	}
	return b.String()
}

// wanted is what a call was for, in words.
func wanted(c *call) string {
	if c.where.machine {
		return fmt.Sprintf("port %d of this machine", c.where.to.Port())
	}
	return c.target.String()
}

// allowedBy is what a user can do to have such a call allowed; empty where nothing would.
func allowedBy(c *call, r policy.Reason) string {
	switch r {
	case policy.ReasonNotAllowed, policy.ReasonNameNotAllowed, policy.ReasonAddressNotAllowed, policy.ReasonShownNotAllowed, policy.ReasonPrivate:
		return fmt.Sprintf("To allow it: lnk sandbox run -a %s …", endpointFor(c))
	case policy.ReasonPortNotAllowed:
		return fmt.Sprintf("To allow it: lnk sandbox run -p %d …", c.where.to.Port())
	case policy.ReasonStopped:
		return "To let calls through again: lnk sandbox stop --off"
	case policy.ReasonPaused:
		return "To let calls through again: lnk sandbox resume " + c.flow.wire.Sandbox
	}
	return ""
}

// endpointFor is the endpoint that would allow a call, in the form that a spec has it: without a port it means 80 and 443.
func endpointFor(c *call) string {
	switch c.where.to.Port() {
	case portHTTP, portHTTPS:
		return strings.TrimSuffix(c.target.String(), fmt.Sprintf(":%d", c.where.to.Port()))
	}
	return c.target.String()
}

// upstreamFailed answers a request whose upstream couldn't be reached, may not be, or broke before its answer.
func upstreamFailed(rw http.ResponseWriter, r *http.Request, err error) {
	x := r.Context().Value(exchangeKey{}).(*httpCall)
	e, dialling := errors.AsType[*dialError](err)
	switch {
	case dialling && e.refused:
		x.reached(dialed{to: e.to})
		x.refuse(e.decision)
		writeRefusal(rw, x.call, e.decision)
	case dialling:
		x.fail(e.decision.Reason)
		writeWords(rw, http.StatusBadGateway, fmt.Sprintf("lnk: %s: %s\n", wanted(x.call), e.decision.Reason))
	default:
		x.fail(failed(x.dialed.to, err).decision.Reason)
		writeWords(rw, http.StatusBadGateway, fmt.Sprintf("lnk: %s: the server ended the call without an answer\n", wanted(x.call)))
	}
}

// writeWords answers with a short text that nothing keeps.
func writeWords(rw http.ResponseWriter, status int, text string) {
	h := rw.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	rw.WriteHeader(status)
	rw.Write([]byte(text))
}
