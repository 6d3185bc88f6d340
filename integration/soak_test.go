package integration

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"lnk/integration/internet"
	"lnk/wirelog"
)

// TestEveryCallIsAccountedFor lets twenty sandboxes call at once, more than their logs take, while two readers follow: what was written and
// what is said to be left out is every call, and the readers have every line once.
func TestEveryCallIsAccountedFor(t *testing.T) {
	const sandboxes, calls = 20, 200
	s := enter(t, internet.Root)
	s.ok(s.run("-a big.test", "true"), "") // the log is there
	plain := s.follow("tail", "-n", "+1", "-F", s.logFile())
	parsed := s.follow("lnk", "sandbox", "log", "-f", "--json", "-n", "1000000")
	var runs sync.WaitGroup
	for i := range sandboxes {
		runs.Go(func() {
			r, err := s.Machine.Try(s.who, "", "lnk", "sandbox", "run", "-q", "-n", fmt.Sprintf("it%d", i), "-a", "big.test", "-a", "nobody.test:9", "--",
				"sh", "-c", fmt.Sprintf("world-client loops %d http://big.test/ && ! nc -z nobody.test 9", calls))
			if err != nil || r.Status != 0 {
				t.Errorf("sandbox %d: %v %v", i, err, r)
			}
		})
	}
	runs.Wait()
	s.wantLines(sandboxes*calls, "http big.test:80 ended")
	allowed := 0 // lookups too: what was left out is counted by outcome, and the line that says so may be any call's
	for _, r := range s.log() {
		if r.Outcome == wirelog.Allowed {
			allowed += 1 + r.More
		}
	}
	if allowed < sandboxes*calls {
		t.Errorf("the log accounts for %d allowed calls, want %d and the lookups", allowed, sandboxes*calls)
	}
	lines := strings.Count(s.logText(), "\n")
	plain.await(lines)
	parsed.await(lines)
	if got := plain.text(); got != s.logText() {
		t.Errorf("the file's follower has %d lines, the log %d, or others", strings.Count(got, "\n"), lines)
	}
	if got := strings.Count(parsed.text(), "\n"); got != lines {
		t.Errorf("log -f has %d lines, the log %d", got, lines)
	}
	sum := s.lnk("sandbox", "log", "--summary", "--json")
	if !strings.Contains(sum.Stdout, `"big.test:80"`) {
		t.Errorf("the summary doesn't name the target: %v", sum)
	}
}

// follower is a command that prints the log as it grows, from its beginning.
type follower struct {
	t      *testing.T
	mu     sync.Mutex
	more   *sync.Cond
	got    bytes.Buffer
	cancel context.CancelFunc
	gone   chan struct{}
}

func (s *stage) follow(args ...string) *follower {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	f := &follower{t: s.t, cancel: cancel, gone: make(chan struct{})}
	f.more = sync.NewCond(&f.mu)
	cmd := s.Machine.Command(ctx, s.who, args...)
	cmd.Stdout = f
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { defer close(f.gone); cmd.Wait() }()
	s.t.Cleanup(func() { cancel(); <-f.gone })
	return f
}

func (f *follower) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.more.Broadcast()
	return f.got.Write(p)
}

func (f *follower) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got.String()
}

// await waits until the follower has n lines.
func (f *follower) await(n int) {
	f.t.Helper()
	late := time.AfterFunc(10*time.Second, func() { f.cancel(); f.more.Broadcast() })
	defer late.Stop()
	end := time.Now().Add(10 * time.Second)
	f.mu.Lock()
	defer f.mu.Unlock()
	for bytes.Count(f.got.Bytes(), []byte("\n")) < n && time.Now().Before(end) {
		f.more.Wait()
	}
}
