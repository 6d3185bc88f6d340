package integration

import (
	"context"
	"testing"
	"time"

	"lnk/integration/internet"
)

// slow is a download that would go on for hours.
const slow = "curl -sS -o /dev/null 'http://slow.test/bytes/1000000000?every=10ms&chunk=1000'"

// awaitFlow waits until a server has sent something on each of n open calls.
func (s *stage) awaitFlow(server string, n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := s.Server(server).Await(ctx, "calls that flow", func(calls []internet.Call) bool {
		flowing := 0
		for _, c := range calls {
			if !c.Ended && c.Out > 5000 {
				flowing++
			}
		}
		return flowing == n
	})
	if err != nil {
		s.t.Fatalf("%v; the log:\n%s", err, s.logTail())
	}
}

// awaitCut waits until all calls of a server have ended, and fails the test if that takes longer than is promised: a
// second, and what a busy machine adds.
func (s *stage) awaitCut(server string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	if _, err := s.Server(server).Settled(ctx); err != nil {
		s.t.Errorf("a running call wasn't cut within a second: %v", err)
	}
}

func TestKillSwitch(t *testing.T) {
	each(t, nil, func(s *stage) {
		one, two := s.session("one", "-a slow.test"), s.session("two", "")
		one.begin(slow)
		two.begin(slow)
		s.awaitFlow("big", 2)
		s.ok(s.lnk("sandbox", "stop"), "")
		s.awaitCut("big")
		for _, sh := range []*session{one, two} {
			r := sh.do("curl -sS -w '%{http_code}' http://slow.test/")
			s.ok(r, "403")
			s.promptly(r)
		}
		asked := len(s.DNS.Queries())
		one.do("getent ahosts big.test; dig +short fresh.slow.test")
		if got := len(s.DNS.Queries()); got != asked {
			s.t.Errorf("while stopped, %d queries went upstream: %+v", got-asked, s.DNS.Queries()[asked:])
		}
		s.ok(s.lnk("sandbox", "stop", "--off"), "")
		for _, sh := range []*session{one, two} {
			s.ok(sh.do("curl -sS http://slow.test/"), "hello from slow.test")
		}
	})
}

// TestKillSwitchThereBefore starts a sandbox while it is on: the program runs, and no call passes.
func TestKillSwitchThereBefore(t *testing.T) {
	each(t, nil, func(s *stage) {
		s.ok(s.lnk("sandbox", "stop"), "")
		sh := s.session("it", "-a big.test")
		s.ok(sh.do("curl -sS -w '%{http_code}' http://big.test/"), "403")
		s.unreached("big")
		s.ok(s.lnk("sandbox", "stop", "--off"), "")
		s.ok(sh.do("curl -sS http://big.test/"), "hello from big.test")
	})
}

func TestPauseAndResume(t *testing.T) {
	each(t, nil, func(s *stage) {
		one, two := s.session("one", "-a slow.test"), s.session("two", "-a slow.test")
		one.begin(slow)
		s.awaitFlow("big", 1)
		s.ok(s.lnk("sandbox", "pause", "one"), "")
		s.awaitCut("big")
		s.ok(one.do("curl -sS -w '%{http_code}' http://slow.test/"), "403")
		s.ok(two.do("curl -sS http://slow.test/"), "hello from slow.test")
		s.ok(s.lnk("sandbox", "paused"), "one")
		s.ok(s.lnk("sandbox", "resume", "one"), "")
		s.ok(one.do("curl -sS http://slow.test/"), "hello from slow.test")
	})
}

// TestGateCannotBeReached tries to lift the kill switch and to read the settings from inside.
func TestGateCannotBeReached(t *testing.T) {
	each(t, nil, func(s *stage) {
		sh := s.session("it", "-a big.test")
		s.ok(s.lnk("sandbox", "stop"), "")
		for _, try := range []string{
			"rm -rf ~/.lnk", "rm ~/.lnk/sandbox/stopped", "mv ~/.lnk ~/elsewhere", "cat ~/.lnk/sandbox/wire.log",
			"umount ~/.lnk", "mkdir -p ~/.lnk/sandbox/paused",
		} {
			if r := sh.do(try); r.Status == 0 && try != "rm -rf ~/.lnk" {
				s.t.Errorf("%s: it worked: %v", try, r)
			}
		}
		s.ok(sh.do("curl -sS -w '%{http_code}' http://big.test/"), "403")
		s.unreached("big")
		s.ok(s.lnk("sandbox", "stop", "--off"), "")
	})
}

// TestSettingsCannotBeSwapped renames folders above the settings from inside, and has them removed outside: the kill switch holds, and nothing
// inside becomes lnk's settings.
func TestSettingsCannotBeSwapped(t *testing.T) {
	each(t, nil, func(s *stage) {
		settings := s.who.Settings()
		sh := s.session("it", "-a big.test")
		for _, try := range []string{"mv ~ ~.old", "mv ~/.lnk ~/.lnk.old", "rmdir ~/.lnk"} {
			if r := sh.do(try); r.Status == 0 {
				s.t.Errorf("%s: it worked: %v", try, r)
			}
		}
		s.ok(sh.do("curl -sS http://big.test/"), "hello from big.test")
		s.ok(s.Machine.Run(s.t, s.who, "sh", "-c", "mv "+settings+" "+settings+".away && lnk sandbox stop"), "")
		sh.do("rm -rf ~/.lnk/sandbox/stopped ~/.lnk/sandbox/paused/*")
		s.ok(sh.do("curl -sS -w '%{http_code}' http://big.test/"), "403")
		s.ok(s.Machine.Run(s.t, s.who, "sh", "-c", "rm -rf "+settings+" && mv "+settings+".away "+settings), "")
	})
}
