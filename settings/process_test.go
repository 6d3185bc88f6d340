package settings

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSelfRuns(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	if self.PID != os.Getpid() || self.Start == 0 || len(self.Boot) != 36 || !self.Running() {
		t.Errorf("got %+v, running %v", self, self.Running())
	}
}

func TestOneThatIsNotThisProcessDoesNotRun(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	earlier, otherBoot := self, self
	earlier.Start--
	otherBoot.Boot = "00000000-0000-0000-0000-000000000000"
	for name, p := range map[string]Process{
		"the zero value":                   {},
		"the same pid, started earlier":    earlier,
		"the same pid, in another boot":    otherBoot,
		"a pid below zero":                 {PID: -1, Start: self.Start, Boot: self.Boot},
		"a pid larger than any (2^22)":     {PID: 1 << 23, Start: self.Start, Boot: self.Boot},
		"a record without a start or boot": {PID: self.PID},
	} {
		if p.Running() {
			t.Errorf("%s runs", name)
		}
	}
}

func TestZombieDoesNotRun(t *testing.T) {
	cmd := exec.Command("/bin/cat")
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	p, err := ProcessOf(cmd.Process.Pid)
	must(t, err)
	if !p.Running() {
		t.Error("it runs and is said not to")
	}
	in.Close()
	// WNOWAIT: wait for its end and leave it unreaped.
	var info unix.Siginfo
	must(t, unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil))
	if p.Running() {
		t.Error("a zombie runs")
	}
	must(t, cmd.Wait())
	if p.Running() {
		t.Error("a process that was reaped runs")
	}
}

func TestStartOf(t *testing.T) {
	rest := " 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 9999 1"
	for name, tt := range map[string]struct {
		stat string
		want uint64
	}{
		"a plain name":                        {"7 (cat) S" + rest, 12345},
		"a name with a space and parentheses": {"7 (a) R 1 (b) ) S" + rest, 12345},
		"a zombie":                            {"7 (cat) Z" + rest, 0},
		"cut short":                           {"7 (cat) S 1 2 3", 0},
		"no name":                             {"", 0},
		"a start that is no number":           {"7 (cat) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 x 9999 1", 0},
	} {
		got, err := startOf([]byte(tt.stat))
		if got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("%s: got %d, %v", name, got, err)
		}
	}
}
