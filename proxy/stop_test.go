package proxy

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"lnk/policy"
)

func TestAStopEndsWhatIsOpenAndRefusesWhatComes(t *testing.T) {
	l := newLab(t, "raw.test:7000", "raw.test:80").quiet()
	l.named("raw.test", allowedAddr)
	l.server(allowedAddr+":7000", echo)
	busy, idle := l.call(allowedAddr+":7000"), l.call(allowedAddr+":7000")
	io.WriteString(busy, "ping")
	io.ReadFull(busy, make([]byte, 4))
	l.lines(2)

	closed := policy.Decision{Reason: policy.ReasonStopped, Detail: "since noon"}
	l.mu.Lock()
	l.gate = closed
	l.mu.Unlock()
	l.wire.End(closed)
	wantReset(t, busy)
	wantReset(t, idle)
	want := "tcp raw.test:7000 ended (" + string(policy.ReasonStopped) + ")"
	if got := l.lines(4); got[2] != want || got[3] != want {
		t.Errorf("log: %q, want two ends by the stop", got)
	}

	late := l.call(allowedAddr + ":7000")
	io.WriteString(late, "x\n")
	wantReset(t, late)
	c := l.call(allowedAddr + ":80")
	io.WriteString(c, "GET /secret HTTP/1.1\r\nHost: raw.test\r\nConnection: close\r\n\r\n")
	answer := readAll(t, c)
	if !strings.HasPrefix(answer, "HTTP/1.1 403 ") || !strings.Contains(answer, string(policy.ReasonStopped)) || !strings.Contains(answer, "since noon") {
		t.Errorf("answer: %q", answer)
	}
	if strings.Contains(answer, "secret") {
		t.Errorf("the answer repeats the request: %q", answer)
	}
	if got := l.lines(6); got[5] != "http raw.test:80 refused ("+string(policy.ReasonStopped)+")" {
		t.Errorf("log: %q", got)
	}
	if len(l.refused) != 0 {
		t.Errorf("refusals by a stop were counted: %q", l.refused)
	}
}

func TestAStopEndsACallAtWhateverStageItIs(t *testing.T) {
	closed := policy.Decision{Reason: policy.ReasonStopped}
	for sentence, test := range map[string]struct {
		to, sent string
	}{
		"still dialling, the client silent":            {allowedAddr + ":7000", ""},
		"still dialling, the client's bytes held back": {allowedAddr + ":7000", "hello\n"},
		"a bare literal that has shown nothing":        {evilAddr + ":443", ""},
		"in the middle of a ClientHello":               {evilAddr + ":443", "\x16\x03\x01\x02\x00\x01"},
		"in the middle of a request's first line":      {allowedAddr + ":7000", "GET /"},
		"a request whose upstream is dialled":          {allowedAddr + ":80", "GET / HTTP/1.1\r\nHost: raw.test\r\n\r\n"},
		"the explicit proxy, asked nothing":            {door, ""},
		"a tunnel that is dialled":                     {door, "CONNECT raw.test:7000 HTTP/1.1\r\n\r\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t, "raw.test:7000", "raw.test", "other.test")
			l.named("raw.test", allowedAddr) // where nobody answers
			c := l.call(test.to)
			io.WriteString(c, test.sent)
			for l.wire.Open() == 0 {
				runtime.Gosched()
			}
			l.wire.End(closed)
			if b, err := io.ReadAll(c); len(b) > 0 || err == nil {
				t.Errorf("got %q and %v, want a reset", b, err)
			}
			l.stop()
			for _, line := range l.lines(len(l.records)) {
				if strings.HasSuffix(line, " allowed") || strings.HasSuffix(line, " ended") {
					t.Errorf("log: %q", line)
				}
			}
		})
	}
}

func TestChangedRulesEndTheOpenCallsThatTheyRefuse(t *testing.T) {
	l := newLab(t, "a.test:7000", "b.test:7000")
	l.named("a.test", allowedAddr)
	l.named("b.test", sharedAddr)
	for _, a := range []string{allowedAddr, sharedAddr} {
		l.server(a+":7000", func(c *net.TCPConn, rec *serverRecord) { io.WriteString(c, "hi\n"); io.Copy(c, c) })
	}
	a, b := l.call(allowedAddr+":7000"), l.call(sharedAddr+":7000")
	io.ReadFull(a, make([]byte, 3))
	io.ReadFull(b, make([]byte, 3))
	l.setRules("b.test:7000")
	l.wire.Recheck()
	wantReset(t, a)
	io.WriteString(b, "still")
	b.CloseWrite()
	if got := readAll(t, b); got != "still" {
		t.Errorf("the call that is still allowed: %q", got)
	}
}
