package wirelog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lnk/settings"
)

func someHome(t testing.TB) settings.Home {
	t.Helper()
	home, err := settings.At(filepath.Join(t.TempDir(), "lnk"))
	must(t, err)
	must(t, home.Ensure())
	return home
}

// childTraffic runs a proxy's count until its input ends.
func childTraffic(args []string) error {
	home, err := settings.At(args[0])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tr := NewTraffic(home, settings.Name(args[1]))
	tr.Add(11, 22)
	ended := make(chan error)
	go func() { ended <- tr.Run(ctx) }()
	if err := untilThere(home.Traffic(os.Getpid())); err != nil {
		return err
	}
	fmt.Println("runs")
	_, err = io.Copy(io.Discard, os.Stdin)
	cancel()
	return errors.Join(err, <-ended)
}

func untilThere(path string) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// aProxy starts one, and returns how to end it.
func aProxy(t *testing.T, home settings.Home, name string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := child("traffic", home.Dir(), name)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if b := make([]byte, 5); true {
		_, err := io.ReadFull(out, b)
		must(t, err)
	}
	return cmd, in
}

func TestTrafficOfProcesses(t *testing.T) {
	home := someHome(t)
	a, endA := aProxy(t, home, "a")
	b, endB := aProxy(t, home, "b")
	c, _ := aProxy(t, home, "c")
	defer endB.Close()
	must(t, os.WriteFile(filepath.Join(home.TrafficFolder(), fmt.Sprintf(".%d.json.123", c.Process.Pid)), nil, 0o600))
	must(t, c.Process.Kill())
	_ = c.Wait()

	got, errs := ReadTraffic(home)
	if len(errs) > 0 || len(got) != 2 {
		t.Fatal(got, errs)
	}
	for i, cmd := range []*exec.Cmd{a, b} {
		if r := got[i]; r.PID != cmd.Process.Pid || !r.Running() || r.Sandbox != settings.Name("ab"[i:i+1]) || r.Out != 11 || r.In != 22 || time.Since(r.Since) > time.Hour {
			t.Errorf("got %+v", r)
		}
	}
	if left, _ := os.ReadDir(home.TrafficFolder()); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
	info, err := os.Stat(home.Traffic(a.Process.Pid))
	if err != nil || info.Mode() != 0o600 {
		t.Error(info.Mode(), err)
	}
	endA.Close()
	must(t, a.Wait())
	if _, err := os.Stat(home.Traffic(a.Process.Pid)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("its record outlived it:", err)
	}
	endB.Close()
	must(t, b.Wait())
}

func TestReadTrafficBesideBrokenRecords(t *testing.T) {
	home := someHome(t)
	self, err := settings.Self()
	must(t, err)
	parent, err := settings.ProcessOf(os.Getppid())
	must(t, err)
	other := parent
	other.Start--
	write := func(name, text string) {
		must(t, os.WriteFile(filepath.Join(home.TrafficFolder(), name), []byte(text), 0o600))
	}
	good := func(p settings.Process) string {
		data, err := json.Marshal(TrafficRecord{Process: p, Sandbox: "box", Out: 1, In: 2})
		must(t, err)
		return string(data)
	}
	mine, parents := fmt.Sprintf("%d.json", self.PID), fmt.Sprintf("%d.json", parent.PID)
	tests := map[string]struct {
		name, text string
		err        string // empty: none
		kept       bool
	}{
		"a later process with the same pid":   {parents, good(other), "", false},
		"a process of another boot":           {parents, strings.Replace(good(parent), parent.Boot, "x", 1), "", false},
		"a pid that is no process's":          {"8388609.json", "broken", "", false},
		"broken, its process running":         {parents, `{"pid":`, "unexpected end of JSON", true},
		"empty, its process running":          {parents, "", "unexpected end of JSON", true},
		"another's pid":                       {parents, good(self), "not what a proxy writes", true},
		"a negative count":                    {parents, strings.Replace(good(parent), `"out":1`, `"out":-1`, 1), "not what a proxy writes", true},
		"a name that would repaint a screen":  {parents, strings.Replace(good(parent), `"box"`, `"\u001b[2J"`, 1), "only letters", true},
		"100 KB":                              {parents, strings.Repeat(" ", 100<<10), "longer than", true},
		"a file that isn't a record":          {"notes.txt", "mine", "", true},
		"a pid with a zero before it":         {"0" + mine, good(self), "", true},
		"one being written, process running":  {"." + parents + ".1", "{", "", true},
		"one being written, its process gone": {".8388609.json.1", "{", "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			write(mine, good(self))
			write(tt.name, tt.text)
			got, errs := ReadTraffic(home)
			if len(got) != 1 || got[0].Process != self || got[0].Out != 1 || got[0].In != 2 {
				t.Errorf("the good record is hidden: %v", got)
			}
			if (len(errs) > 0) != (tt.err != "") || len(errs) > 1 || tt.err != "" && !strings.Contains(errs[0].Error(), tt.err) {
				t.Errorf("errors %v, want %q", errs, tt.err)
			}
			_, err := os.Lstat(filepath.Join(home.TrafficFolder(), tt.name))
			if kept := err == nil; kept != tt.kept {
				t.Errorf("kept: %v", kept)
			}
			_ = os.Remove(filepath.Join(home.TrafficFolder(), tt.name))
		})
	}
	if got, errs := ReadTraffic(settings.Home{}); len(got) != 0 || len(errs) != 1 {
		t.Errorf("no settings: %v, %v", got, errs)
	}
	empty, err := settings.At(t.TempDir())
	must(t, err)
	if got, errs := ReadTraffic(empty); len(got)+len(errs) != 0 {
		t.Errorf("no folder: %v, %v", got, errs)
	}
}

// In a bubble of fake time: the file changes every 5 seconds, while the counts do.
func TestTrafficIsWrittenWhileItChanges(t *testing.T) {
	home := someHome(t)
	path := home.Traffic(os.Getpid())
	synctest.Test(t, func(t *testing.T) {
		tr := NewTraffic(home, box)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- tr.Run(ctx) }()
		read := func() TrafficRecord {
			t.Helper()
			synctest.Wait()
			got, errs := ReadTraffic(home)
			if len(got) != 1 || len(errs) > 0 {
				t.Fatal(got, errs)
			}
			return got[0]
		}
		if r := read(); r.Out != 0 || r.In != 0 || r.Sandbox != box {
			t.Errorf("at first %+v", r)
		}
		tr.Add(5, 7)
		tr.Add(-1, -1)
		time.Sleep(4900 * time.Millisecond)
		if r := read(); r.Out != 0 {
			t.Errorf("before 5 seconds %+v", r)
		}
		time.Sleep(200 * time.Millisecond)
		if r := read(); r.Out != 5 || r.In != 7 {
			t.Errorf("after 5 seconds %+v", r)
		}
		before := idAt(path)
		time.Sleep(time.Minute)
		synctest.Wait()
		if idAt(path) != before {
			t.Error("it is written although nothing changed")
		}
		must(t, os.Remove(path))
		time.Sleep(5 * time.Second)
		if r := read(); r.Out != 5 {
			t.Errorf("after somebody removed it %+v", r)
		}
		cancel()
		must(t, <-ended)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Error("it is still there:", err)
		}
	})
}

func TestTrafficThatCannotBeWritten(t *testing.T) {
	home := someHome(t)
	must(t, os.RemoveAll(home.TrafficFolder()))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- NewTraffic(home, box).Run(ctx) }()
		time.Sleep(6 * time.Second)
		must(t, os.Mkdir(home.TrafficFolder(), 0o700))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got, _ := ReadTraffic(home); len(got) != 1 {
			t.Error("it isn't written once it can be")
		}
		must(t, os.RemoveAll(home.TrafficFolder()))
		time.Sleep(5 * time.Second)
		cancel()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "writing the traffic") {
			t.Error(err)
		}
	})
}

func TestTotals(t *testing.T) {
	tr := NewTraffic(settings.Home{}, box)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				tr.Add(1, 2)
			}
		})
	}
	wg.Wait()
	if out, in := tr.Totals(); out != 4000 || in != 8000 {
		t.Error(out, in)
	}
}

func BenchmarkTrafficAdd(b *testing.B) {
	tr := NewTraffic(settings.Home{}, box)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			tr.Add(1, 1)
		}
	})
}
