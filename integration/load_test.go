package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"lnk/integration/internet"
)

func TestTwoHundredStartsInARow(t *testing.T) {
	each(t, []string{"allowed"}, func(s *stage) {
		for i := range 200 {
			r := s.run("-a allowed.test", "curl", "-sSf", "http://allowed.test/")
			if r.Status != 0 || r.Stdout != internet.NginxPage {
				s.t.Fatalf("start %d: %v", i+1, r)
			}
		}
		s.wantLines(200, "http allowed.test:80 allowed", "http allowed.test:80 ended")
	})
}

// TestFiftyAtOnce keeps every call until all fifty are there.
func TestFiftyAtOnce(t *testing.T) {
	const n = 50
	each(t, nil, func(s *stage) {
		var here sync.WaitGroup
		here.Add(n)
		met := s.Listen(s.t, 7777, func(c *internet.Conn) {
			here.Done()
			here.Wait()
			fmt.Fprintln(c, "all here")
		}, internet.Addr4(7))
		results, errs := make([]internet.Result, n), make([]error, n)
		var runs sync.WaitGroup
		for i := range n {
			runs.Go(func() {
				results[i], errs[i] = s.Machine.Try(s.who, "", "lnk", "sandbox", "run", "-n", fmt.Sprintf("it%d", i), "-a", "echo.test:7777", "--",
					"nc", "-4", "-N", "echo.test", "7777")
			})
		}
		runs.Wait()
		for i, r := range results {
			if errors.Is(errs[i], context.DeadlineExceeded) && len(met.Calls()) < n {
				continue // it waited for one that didn't come, which says why
			}
			if errs[i] != nil || r.Status != 0 || !strings.Contains(r.Stdout, "all here") {
				s.t.Fatalf("sandbox %d of %d at once: %v %v", i, n, errs[i], r)
			}
		}
		if got := len(met.Calls()); got != n {
			s.t.Errorf("the server saw %d calls, want %d", got, n)
		}
		s.wantLines(n, "tcp echo.test:7777 allowed", "tcp echo.test:7777 ended")
	})
}

func TestBigDownload(t *testing.T) {
	const size = 1_000_000_000
	want := internet.StreamSum(size)
	each(t, nil, func(s *stage) {
		url := fmt.Sprintf("https://big.test/bytes/%d", size)
		s.ok(s.run("-a big.test", "sh", "-c", "curl -sS "+url+" | sha256sum"), want)
		call := s.settled("big")[0]
		for _, r := range s.log() {
			if r.Outcome == "ended" && (r.Out != call.In || r.In != call.Out) {
				s.t.Errorf("the log counts %d out and %d in; the server got %d and sent %d", r.Out, r.In, call.In, call.Out)
			}
		}
	})
}

func TestBigUpload(t *testing.T) {
	each(t, nil, func(s *stage) {
		r := s.run("-a big.test", "sh", "-c",
			"head -c 200000000 /dev/zero | tee /dev/stderr 2>/tmp/sum | curl -sS -H 'Expect:' -T - http://big.test/put; sha256sum </tmp/sum; rm /tmp/sum")
		words := strings.Fields(r.Stdout)
		if len(words) < 5 || words[0] != "200000000" || words[3] != words[4] {
			s.t.Errorf("not what was sent came: %v", r)
		}
	})
}

func TestManyCallsInOneSandbox(t *testing.T) {
	each(t, nil, func(s *stage) {
		s.ok(s.run("-a big.test", "world-client", "loops", "300", "http://big.test/"), "")
		s.wantLines(300, "http big.test:80 allowed", "http big.test:80 ended")
	})
}

// TestThousandsOfOpenCalls holds eight thousand calls open in one sandbox, each with its server's word, and lets each say one more. They take
// 16,000 descriptors of lnk's; there are machines whose root may have no more than 20,000.
func TestThousandsOfOpenCalls(t *testing.T) {
	const n = 8_000
	s := enter(t, internet.Root)
	s.Listen(s.t, 7777, func(c *internet.Conn) {
		fmt.Fprint(c, "a")
		c.Read(make([]byte, 1))
		fmt.Fprint(c, "b")
		c.Read(make([]byte, 1))
	}, internet.Addr4(7))
	s.ok(s.run("-a echo.test:7777", "/usr/bin/python3", "-c", fmt.Sprintf(`
import resource, socket
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
calls = [socket.create_connection(("echo.test", 7777), 30) for _ in range(%d)]
assert all(c.recv(1) == b"a" for c in calls)
for c in calls: c.sendall(b"x")
assert all(c.recv(1) == b"b" for c in calls)
print("all", len(calls))`, n)), fmt.Sprint("all ", n))
}
