package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lnk/integration/internet"
)

// held are clients whose calls are open for good, each of another kind. They end when their connection does.
var held = map[string]string{
	"a download over TLS":          "curl -sS -o /dev/null 'https://slow.test/bytes/1000000000?every=10ms&chunk=1000'",
	"a download over HTTP":         "curl -sS -o /dev/null 'http://slow.test/bytes/1000000000?every=10ms&chunk=1000'",
	"a tunnel":                     "curl -sS -o /dev/null -x http://proxy.lnk.internal:3128 'https://slow.test/bytes/1000000000?every=10ms&chunk=1000'",
	"a SOCKS connection":           "curl -sS -o /dev/null --socks5-hostname proxy.lnk.internal:3128 'https://slow.test/bytes/1000000000?every=10ms&chunk=1000'",
	"a connection that idles":      python("s.sendall(b'GET / HTTP/1.1\\r\\nHost: slow.test\\r\\n\\r\\n')", "slow.test", 80),
	"a server's words and silence": python("s.recv(5)", "echo.test", 7777),
	"silence on both sides":        python("pass", "echo.test", 7778),
	"half of a ClientHello":        python("s.sendall(b'\\x16\\x03\\x01\\x02\\x00\\x01')", "slow.test", 443),
}

// python is a client that does one thing on a connection and then reads until there is no more.
func python(does, host string, port int) string {
	return fmt.Sprintf(`/usr/bin/python3 -c "
import socket
s = socket.create_connection(('%s', %d))
%s
while s.recv(65536): pass"`, host, port, does)
}

// TestKillSwitchEndsEveryKindOfCall opens calls of all kinds, and times how long they outlive a stop.
func TestKillSwitchEndsEveryKindOfCall(t *testing.T) {
	each(t, nil, func(s *stage) {
		greets := s.Listen(s.t, 7777, func(c *internet.Conn) { fmt.Fprintln(c, "hello"); c.Read(make([]byte, 1)) }, internet.Addr4(7))
		silent := s.Listen(s.t, 7778, func(c *internet.Conn) { c.Read(make([]byte, 1)) }, internet.Addr4(7))
		sh := s.session("it", "-a slow.test -a echo.test:7777 -a echo.test:7778")
		for _, client := range held {
			sh.begin(client)
		}
		s.awaitFlow("big", 4)
		for _, server := range []*internet.Server{greets, silent} {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			if err := server.Await(ctx, "a call", func(calls []internet.Call) bool { return len(calls) == 1 }); err != nil {
				s.t.Error(err)
			}
			cancel()
		}
		s.ok(s.lnk("sandbox", "stop"), "")
		start := time.Now()
		sh.exec("wait; echo all have ended")
		sh.awaitLine("all have ended")
		if took := time.Since(start); took > 1500*time.Millisecond {
			s.t.Errorf("the last client ended %s after the stop", took)
		}
		s.ok(s.lnk("sandbox", "stop", "--off"), "")
	})
}
