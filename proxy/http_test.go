package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"lnk/policy"
	"lnk/wirelog"
)

// web serves handler at addr, HTTP/1.x and HTTP/2 in the clear, behind connections whose every byte is recorded.
func (l *lab) web(addr string, handler http.HandlerFunc) *serverRecord {
	handed := newHandoff()
	s := &http.Server{Handler: handler, ErrorLog: discard, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	served := make(chan struct{})
	go func() { defer close(served); s.Serve(handed) }()
	l.t.Cleanup(func() { s.Close(); handed.Close(); <-served })
	return l.server(addr, func(c *net.TCPConn, rec *serverRecord) {
		closed := make(chan struct{})
		if handed.give(&recordedConn{Conn: c, rec: rec, closed: closed}) {
			<-closed
		}
	})
}

type recordedConn struct {
	net.Conn
	rec    *serverRecord
	closed chan struct{}
	once   bool
}

func (c *recordedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.rec.Write(p[:n])
	return n, err
}

func (c *recordedConn) Close() error {
	if !c.once {
		c.once = true
		close(c.closed)
	}
	return c.Conn.Close()
}

func echoPath(rw http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	fmt.Fprintf(rw, "%s %s %s %s", r.Method, r.Host, r.RequestURI, b)
}

// ask sends raw bytes and reads n responses.
func ask(t *testing.T, c net.Conn, sent string, n int) []string {
	t.Helper()
	if _, err := io.WriteString(c, sent); err != nil {
		t.Fatal(err)
	}
	br := bufio.NewReader(c)
	var got []string
	for range n {
		r, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatalf("reading an answer after %q: %v", got, err)
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatalf("reading a body: %v", err)
		}
		got = append(got, fmt.Sprintf("%d %s", r.StatusCode, b))
	}
	return got
}

func TestEachRequestOnAConnectionIsJudgedOnItsOwn(t *testing.T) {
	l := newLab(t, "shared.test", "other.test")
	l.named("shared.test", sharedAddr)
	rec := l.web(sharedAddr+":80", echoPath)
	c := l.call(sharedAddr + ":80")
	got := ask(t, c, "GET /1 HTTP/1.1\r\nHost: shared.test\r\n\r\n"+
		"POST /2 HTTP/1.1\r\nHost: OTHER.test.:80\r\nContent-Length: 33\r\n\r\nGET /x HTTP/1.1\r\nHost: x.test\r\n\r\n"+
		"GET /3 HTTP/1.1\r\nHost: denied.test\r\n\r\n"+
		"GET /4 HTTP/1.1\r\nHost: shared.test\r\nConnection: close\r\n\r\n", 4)
	if got[0] != "200 GET shared.test /1 " || !strings.HasPrefix(got[1], "200 POST OTHER.test.:80 /2 GET /x") || got[3] != "200 GET shared.test /4 " {
		t.Errorf("answers: %q", got)
	}
	if !strings.HasPrefix(got[2], "403 lnk: refused denied.test:80: ") || !strings.Contains(got[2], "lnk sandbox run -a denied.test") {
		t.Errorf("refusal: %q", got[2])
	}
	l.wantLines(
		"http shared.test:80 allowed", "http shared.test:80 ended",
		"http other.test:80 allowed", "http other.test:80 ended",
		"http denied.test:80 refused (the name it shows is not allowed)",
		"http shared.test:80 allowed", "http shared.test:80 ended")
	if strings.Contains(rec.bytes(), "denied.test") || rec.conns.Load() != 1 {
		t.Errorf("the server saw %d connections and %q", rec.conns.Load(), rec.bytes())
	}
}

func TestARequestsBytesAreCountedExactly(t *testing.T) {
	l := newLab(t, "shared.test")
	l.named("shared.test", sharedAddr)
	rec := l.web(sharedAddr+":80", echoPath)
	c := l.call(sharedAddr + ":80")
	ask(t, c, "GET /1 HTTP/1.1\r\nHost: shared.test\r\n\r\nPOST /2 HTTP/1.1\r\nHost: shared.test\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello", 2)
	l.lines(4)
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.records[1].Out + l.records[3].Out
	if out != int64(len(rec.bytes())) || out != l.out.Load() {
		t.Errorf("ended lines have %d bytes out, the server read %d, the counters %d", out, len(rec.bytes()), l.out.Load())
	}
	if in := l.records[1].In + l.records[3].In; in != l.in.Load() || in == 0 {
		t.Errorf("ended lines have %d bytes in, the counters %d", in, l.in.Load())
	}
}

func TestARefusedConnectionSpeakingHTTPHearsWhy(t *testing.T) {
	l := newLab(t, "allowed.test")
	l.named("denied.test", "198.18.1.7")
	c := l.call("198.18.1.7:80")
	got := ask(t, c, "GET / HTTP/1.1\r\nHost: denied.test\r\n\r\nGET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n", 2)
	for _, answer := range got {
		if !strings.HasPrefix(answer, "403 ") {
			t.Errorf("answer: %q", answer)
		}
	}
	c.Close()
	lines := l.lines(2)
	for _, line := range lines {
		if !strings.Contains(line, " refused (") {
			t.Errorf("log: %q", line)
		}
	}
	if len(l.dialled) != 0 || l.out.Load() == 0 {
		t.Errorf("dialled %v; counted %d bytes of refused requests", l.dialled, l.out.Load())
	}
}

func TestARequestOverAStrangersLiteralGoesToTheNamesOwnAddress(t *testing.T) {
	l := newLab(t, "allowed.test")
	l.inZone("allowed.test", allowedAddr)
	l.web(allowedAddr+":80", echoPath)
	evil := l.web(evilAddr+":80", echoPath)
	c := l.call(evilAddr + ":80")
	got := ask(t, c, "GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\nGET / HTTP/1.1\r\nHost: "+evilAddr+"\r\n\r\nGET / HTTP/1.0\r\n\r\n", 3)
	if got[0] != "200 GET allowed.test / " || !strings.HasPrefix(got[1], "403 ") || !strings.HasPrefix(got[2], "403 ") {
		t.Errorf("answers: %q", got)
	}
	if evil.conns.Load() != 0 {
		t.Error("the stranger was called")
	}
}

func TestWhatTwoReadersCouldReadDifferentlyIsNotForwarded(t *testing.T) {
	for sentence, sent := range map[string]string{
		"two hosts":                    "GET / HTTP/1.1\r\nHost: shared.test\r\nHost: denied.test\r\n\r\n",
		"no host in HTTP/1.1":          "GET / HTTP/1.1\r\n\r\n",
		"two lengths":                  "POST / HTTP/1.1\r\nHost: shared.test\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"a length that is no number":   "POST / HTTP/1.1\r\nHost: shared.test\r\nContent-Length: +3\r\n\r\nabc",
		"an unknown transfer coding":   "POST / HTTP/1.1\r\nHost: shared.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"a header with a space":        "GET / HTTP/1.1\r\nHost : denied.test\r\nHost: shared.test\r\n\r\n",
		"a folded header":              "GET / HTTP/1.1\r\nHost: shared.test\r\n denied.test\r\n\r\n",
		"a host that is no host":       "GET / HTTP/1.1\r\nHost: shared.test@denied.test\r\n\r\n",
		"a version that doesn't exist": "GET / HTTP/9.9\r\nHost: shared.test\r\n\r\n",
		"a lower-case version":         "GET / http/1.1\r\nHost: shared.test\r\n\r\n",
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t, "shared.test")
			l.named("shared.test", sharedAddr)
			rec := l.web(sharedAddr+":80", echoPath)
			c := l.call(sharedAddr + ":80")
			got := ask(t, c, sent, 1)
			if !strings.HasPrefix(got[0], "400 ") && !strings.HasPrefix(got[0], "501 ") && !strings.HasPrefix(got[0], "505 ") {
				t.Errorf("answer: %q", got)
			}
			c.Close()
			if lines := l.lines(1); !strings.HasSuffix(lines[0], " refused (malformed)") {
				t.Errorf("log: %q", lines)
			}
			if rec.bytes() != "" {
				t.Errorf("the server read %q", rec.bytes())
			}
		})
	}
}

func TestTheTargetOfARequestIsCarriedAsItStood(t *testing.T) {
	l := newLab(t, "shared.test")
	l.named("shared.test", sharedAddr)
	l.web(sharedAddr+":80", echoPath)
	for sent, want := range map[string]string{
		"/a%2fb/../c?q=a;b&%zz=1":            "/a%2fb/../c?q=a;b&%zz=1",
		"//double/slash?":                    "//double/slash",
		"/?":                                 "/?",
		"http://shared.test/abs?x":           "/abs?x",
		"/" + strings.Repeat("long/", 2000):  "/" + strings.Repeat("long/", 2000),
		"/caf%C3%A9?next=http://evil.test/x": "/caf%C3%A9?next=http://evil.test/x",
	} {
		c := l.call(sharedAddr + ":80")
		got := ask(t, c, "GET "+sent+" HTTP/1.1\r\nHost: shared.test\r\nConnection: close\r\n\r\n", 1)
		if got[0] != "200 GET shared.test "+want+" " {
			t.Errorf("%.60q arrived as %.90q", sent, got[0])
		}
	}
}

func TestExpectContinueWaitsForTheServersWord(t *testing.T) {
	l := newLab(t, "shared.test")
	l.named("shared.test", sharedAddr)
	l.web(sharedAddr+":80", func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		echoPath(rw, r)
	})
	head := "PUT %s HTTP/1.1\r\nHost: shared.test\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
	c := l.call(sharedAddr + ":80")
	if got := ask(t, c, fmt.Sprintf(head, "/no"), 1); got[0] != "401 " {
		t.Errorf("answer without the body: %q", got)
	}
	c = l.call(sharedAddr + ":80")
	fmt.Fprintf(c, head, "/yes")
	br := bufio.NewReader(c)
	if line, err := br.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("interim answer: %q, %v", line, err)
	}
	br.ReadString('\n')
	io.WriteString(c, "hello")
	r, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(r.Body); string(b) != "PUT shared.test /yes hello" {
		t.Errorf("answer: %q", b)
	}
}

func TestAnUpgradeCarriesBytesBeforeAndAfterTheSwitch(t *testing.T) {
	l := newLab(t, "ws.test")
	l.named("ws.test", sharedAddr)
	l.web(sharedAddr+":80", func(rw http.ResponseWriter, r *http.Request) {
		c, buf, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nfirst")
		io.CopyN(c, buf, int64(len("earlylater")))
	})
	c := l.call(sharedAddr + ":80")
	io.WriteString(c, "GET /chat HTTP/1.1\r\nHost: ws.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nearly")
	br := bufio.NewReader(c)
	r, err := http.ReadResponse(br, nil)
	if err != nil || r.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("answer: %v, %v", r, err)
	}
	got := make([]byte, len("firstearly"))
	if _, err := io.ReadFull(br, got); err != nil || string(got) != "firstearly" {
		t.Fatalf("after the switch: %q, %v", got, err)
	}
	io.WriteString(c, "later")
	if got := readAll(t, br); got != "later" {
		t.Errorf("then: %q", got)
	}
	c.Close()
	l.wantLines("http ws.test:80 allowed", "http ws.test:80 ended")
}

func TestAStreamedAnswerIsPassedOnAsItComes(t *testing.T) {
	l := newLab(t, "sse.test")
	l.named("sse.test", sharedAddr)
	next := make(chan struct{})
	l.web(sharedAddr+":80", func(rw http.ResponseWriter, r *http.Request) {
		for i := range 5 {
			fmt.Fprintf(rw, "event %d\n", i)
			rw.(http.Flusher).Flush()
			<-next
		}
	})
	c := l.call(sharedAddr + ":80")
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: sse.test\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body := bufio.NewReader(r.Body)
	for i := range 5 { // each event arrives while the server waits to be let on
		if line, err := body.ReadString('\n'); err != nil || line != fmt.Sprintf("event %d\n", i) {
			t.Fatalf("event %d: %q, %v", i, line, err)
		}
		next <- struct{}{}
	}
}

func TestHTTP2InTheClearIsJudgedStreamByStream(t *testing.T) {
	l := newLab(t, "grpc.test:50051")
	l.named("grpc.test", sharedAddr)
	l.web(sharedAddr+":50051", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Trailer", "Grpc-Status")
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(rw, "HTTP/%d %s %s", r.ProtoMajor, r.Host, b)
		rw.Header().Set("Grpc-Status", "0")
	})
	transport := &http.Transport{
		Protocols:   new(http.Protocols),
		DialContext: func(context.Context, string, string) (net.Conn, error) { return l.call(sharedAddr + ":50051"), nil },
	}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	post := func(host string) (int, string, http.Header) {
		req := httptest.NewRequest("POST", "http://grpc.test:50051/Service/Method", strings.NewReader("hello"))
		req.RequestURI, req.Host = "", host
		r, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(b), r.Trailer
	}
	if status, body, trailer := post("grpc.test:50051"); status != 200 || body != "HTTP/2 grpc.test:50051 hello" || trailer.Get("Grpc-Status") != "0" {
		t.Errorf("answer: %d %q, trailer %v", status, body, trailer)
	}
	if status, body, _ := post("denied.test"); status != 403 || !strings.Contains(body, "denied.test") {
		t.Errorf("another authority: %d %q", status, body)
	}
	got := l.lines(3)
	if got[0] != "http grpc.test:50051 allowed" || got[2] != "http denied.test:50051 refused (the name it shows is not allowed)" {
		t.Errorf("log: %q", got)
	}
}

func TestAMetadataServiceIsRefusedHoweverItIsCalled(t *testing.T) {
	for sentence, test := range map[string]struct{ to, host, want string }{
		"by its address":            {"169.254.169.254:80", "innocent.test", "169.254.169.254"},
		"by a Host alone":           {allowedAddr + ":80", "0xA9FEA9FE", "169.254.169.254"},
		"by a well-known name":      {allowedAddr + ":80", "metadata.google.internal", "metadata.google.internal"},
		"by what a name resolves":   {"198.51.100.9:80", "sly.test", "169.254.169.254"},
		"inside an IPv6 address":    {"[64:ff9b::a9fe:a9fe]:80", "innocent.test", "169.254.169.254"},
		"by another cloud's number": {"100.100.100.200:80", "innocent.test", "100.100.100.200"},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t) // open
			l.mu.Lock()
			if test.host == "sly.test" { // a refusal address of a name that is allowed by now, and resolves to the service
				l.book[addrPort("198.18.1.9:80").Addr()] = []policy.Name{name(t, "sly.test")}
				test.to = "198.18.1.9:80"
			}
			l.mu.Unlock()
			l.inZone("sly.test", "169.254.169.254")
			c := l.call(test.to)
			got := ask(t, c, "GET / HTTP/1.1\r\nHost: "+test.host+"\r\nConnection: close\r\n\r\n", 1)
			if !strings.HasPrefix(got[0], "403 ") {
				t.Errorf("answer: %q", got)
			}
			l.lines(1)
			l.stop()
			reached := slices.ContainsFunc(l.dialled, func(a netip.AddrPort) bool { return policy.Classify(a.Addr()) == policy.ClassMetadata })
			if reached || len(l.metadata) != 1 || !strings.HasPrefix(l.metadata[0], test.want+" ") {
				t.Errorf("dialled %v; the watch heard %q, want %s", l.dialled, l.metadata, test.want)
			}
			if r := l.records[0]; !r.Always || r.Outcome != wirelog.Refused || r.Reason != string(policy.ReasonMetadata) {
				t.Errorf("record: %+v", r)
			}
		})
	}
}
