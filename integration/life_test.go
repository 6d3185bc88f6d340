package integration

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"lnk/integration/internet"
)

// TestNothingIsLeft ends sandboxes with a call open and a child in the background in every way there is; before and
// after, the machine must be the same.
func TestNothingIsLeft(t *testing.T) {
	for _, c := range []struct {
		how    string
		signal syscall.Signal
		status int
	}{
		{"interrupt", syscall.SIGINT, 130}, {"termination", syscall.SIGTERM, 143}, {"hang-up", syscall.SIGHUP, 129}, {"kill", syscall.SIGKILL, 0},
	} {
		t.Run(c.how, func(t *testing.T) {
			each(t, nil, func(s *stage) {
				s.killed = c.signal == syscall.SIGKILL
				before := s.Snapshot(s.t)
				sh := s.session("it", "-a slow.test")
				sh.begin(slow)
				sh.begin("setsid sleep 1000")
				s.awaitFlow("big", 1)
				lnk := sh.lnkPID()
				inside := descendants(lnk)
				if len(inside) < 2 {
					s.t.Fatalf("below lnk there is only %v", inside)
				}
				if err := syscall.Kill(lnk, c.signal); err != nil {
					s.t.Fatal(err)
				}
				select {
				case <-sh.ended:
				case <-time.After(5 * time.Second):
					s.t.Fatalf("lnk got signal %v and goes on", c.signal)
				}
				s.awaitCut("big")
				if err := s.Same(before); err != nil {
					s.t.Error(err)
				}
				if s.killed { // whoever looks next clears what the killed one left in the settings
					s.ok(s.lnk("sandbox", "run", "-q", "-n", "it", "--", "true"), "")
				} else {
					s.wantLines(1, "http slow.test:80 ended")
				}
			})
		})
	}
}

func TestNothingIsLeftAfterANormalEnd(t *testing.T) {
	each(t, []string{"allowed"}, func(s *stage) {
		before := s.Snapshot(s.t)
		s.ok(s.run("-a allowed.test", "sh", "-c", "curl -sS https://allowed.test/; sleep 1000 >/dev/null 2>&1 & exit 0"), internet.NginxPage)
		if err := s.Same(before); err != nil {
			s.t.Error(err)
		}
	})
}

// TestStatus is the exit status, for each way in which a program can end.
func TestStatus(t *testing.T) {
	each(t, nil, func(s *stage) {
		for _, c := range []struct {
			program []string
			want    int
		}{
			{[]string{"true"}, 0},
			{[]string{"sh", "-c", "exit 7"}, 7},
			{[]string{"sh", "-c", "exit 125"}, 125},
			{[]string{"sh", "-c", "kill -TERM $$"}, 143},
			{[]string{"sh", "-c", "kill -SEGV $$"}, 139},
			{[]string{"sh", "-c", "kill -KILL $$"}, 137},
			{[]string{"no-such-program"}, 127},
			{[]string{"/no/such/program"}, 127},
			{[]string{"/etc/passwd"}, 126},
			{[]string{"/etc"}, 126},
		} {
			if r := s.run("-q -a allowed.test", c.program...); r.Status != c.want {
				s.t.Errorf("%q: want status %d, got %v", c.program, c.want, r)
			}
		}
	})
}

// TestSignalsReachTheProgram sends lnk what a user or a supervisor sends, to a program that has its own answer to it.
func TestSignalsReachTheProgram(t *testing.T) {
	each(t, nil, func(s *stage) {
		for name, signal := range map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1, "QUIT": syscall.SIGQUIT} {
			sh := s.session("it", "-q")
			sh.do("touch /tmp/ready")
			// The shell itself goes on as a program that answers the signal with a status of its own.
			sh.exec(`exec sh -c 'trap "exit 33" ` + name + `; echo armed; while :; do sleep 0.05; done'`)
			sh.awaitLine("armed")
			if err := syscall.Kill(sh.lnkPID(), signal); err != nil {
				s.t.Fatal(err)
			}
			if status := sh.status(); status != 33 {
				s.t.Errorf("SIG%s: want the program's own status 33, got %d: %s", name, status, sh.stderr.String())
			}
			s.Machine.Run(s.t, internet.Root, "rm", "-f", "/tmp/ready")
		}
	})
}

// TestAsIfWithoutLnk compares what a program sees of its surroundings inside and outside.
func TestAsIfWithoutLnk(t *testing.T) {
	each(t, nil, func(s *stage) {
		const look = "umask; pwd; ulimit -n; ulimit -c; echo $HOME $USER; cat"
		without, caller := "", s.who
		if s.who == internet.Sudo { // sudo has its say on both sides
			without, caller = "sudo -n -u ada ", internet.Ada
		}
		with := strings.TrimSuffix(without, "-u ada ") + "lnk sandbox run -q -n it -- "
		outside := s.Machine.RunInput(s.t, caller, "input\n", "sh", "-c", "umask 027; exec "+without+"sh -c '"+look+"'")
		inside := s.Machine.RunInput(s.t, caller, "input\n", "sh", "-c", "umask 027; exec "+with+"sh -c '"+look+"'")
		if inside.Stdout != outside.Stdout || inside.Status != outside.Status {
			s.t.Errorf("outside: %v\ninside: %v", outside, inside)
		}
	})
}

// TestWhoItIs is the identity inside: the caller's, with no capability and no way to gain one.
func TestWhoItIs(t *testing.T) {
	each(t, nil, func(s *stage) {
		r := s.run("-q", "sh", "-c", "id -u; grep -E '^(CapEff|CapPrm|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status | tr -s '\\t' ' '; echo $$; ls /proc | grep -c '^[0-9]'")
		for _, want := range []string{"CapPrm: 0000000000000000", "CapEff: 0000000000000000", "CapBnd: 0000000000000000", "CapAmb: 0000000000000000", "NoNewPrivs: 1"} {
			s.ok(r, want)
		}
		if want := map[internet.User]string{internet.Root: "0\n", internet.Sudo: "4001\n", internet.Rootless: "4002\n"}[s.who]; len(r.Stdout) < len(want) || r.Stdout[:len(want)] != want {
			s.t.Errorf("want uid %q, got %v", want, r)
		}
		for _, try := range []string{"nsenter -t 1 -n true", "ip link add a type dummy", "nft flush ruleset", "mount -t tmpfs x /mnt", "sysctl -w net.ipv4.ip_forward=1"} {
			if r := s.run("-q", "sh", "-c", try); r.Status == 0 {
				s.t.Errorf("%s: it worked: %v", try, r)
			}
		}
	})
}

// TestASignalToItsOwnGroupStaysInside lets the program signal its process group, where no terminal makes that the caller's.
func TestASignalToItsOwnGroupStaysInside(t *testing.T) {
	each(t, nil, func(s *stage) {
		r := s.Machine.Run(s.t, s.who, "setsid", "-w", "sh", "-c", "lnk sandbox run -q -n it -- /usr/bin/python3 -c 'import os; os.kill(0, 9)'; echo outside goes on with $?")
		s.ok(r, "outside goes on with 137")
	})
}
