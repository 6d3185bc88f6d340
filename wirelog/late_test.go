package wirelog

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// These tests stop a writer between two of its system calls, let others go on, and wake it: they call its steps one by
// one.

// sleeper is a writer that holds the lock and has looked at the log: the next it would do is to write or to rotate.
func sleeper(t *testing.T, path string) (*file, int64) {
	t.Helper()
	f := &file{path: path, limit: 256, keep: 4, fd: -1}
	must(t, f.open())
	t.Cleanup(f.close)
	if !f.lock() {
		t.Fatal("no lock")
	}
	size, err := f.current()
	must(t, err)
	return f, size
}

func sleepersLine(name string) []byte {
	return []byte(Format(Record{Sandbox: box, Target: NameTarget(name), Outcome: Allowed}))
}

func TestStoppedWriterHoldsNobodyUp(t *testing.T) {
	path := logPath(t)
	l := writer(t, path)
	must(t, l.Write(rec("first")))
	f, _ := sleeper(t, path)
	begun := time.Now()
	var want []string
	for i := range 200 {
		want = append(want, fmt.Sprint("n", 100+i))
		must(t, l.Write(rec(want[i])))
	}
	// The promise is a time: one wait of 250 ms, not two hundred of them.
	if took := time.Since(begun); took > 20*lockWait {
		t.Errorf("200 lines took %v", took)
	}
	got := targets(t, path)
	same(t, got, want[len(want)-len(got):])
	f.close()
	must(t, l.Write(rec("last")))
	if l.file.stuck {
		t.Error("the lock is free and isn't taken")
	}
}

func TestWriterThatSleptOverRotations(t *testing.T) {
	for rotations := range 8 {
		t.Run(fmt.Sprint(rotations), func(t *testing.T) {
			path := logPath(t)
			l := writer(t, path)
			l.file.stuck = true // it has met the sleeper before: no wait
			f, size := sleeper(t, path)
			for i := 0; i < 40*rotations && rotated(t, f) < rotations; i++ {
				must(t, l.Write(rec(fmt.Sprint("n", 100+i))))
			}
			err := f.put(sleepersLine("late"), size, true)
			if dropped := rotations > 4; errors.Is(err, errStale) != dropped || err != nil && !dropped {
				t.Fatalf("after %d rotations: %v", rotations, err)
			}
			if err != nil {
				f.close()
				must(t, f.append(sleepersLine("late")))
			}
			found := 0
			for _, name := range targets(t, path) {
				if name == "late" {
					found++
				}
			}
			if found != 1 {
				t.Errorf("its line is there %d times", found)
			}
		})
	}
}

// rotated is the number that the sleeper's file has by now; 5: it was dropped.
func rotated(t *testing.T, f *file) int {
	t.Helper()
	for k := range 5 {
		name := f.path
		if k > 0 {
			name = numbered(f.path, k)
		}
		if st, err := lstat(name); err == nil && idOf(&st) == f.id {
			return k
		}
	}
	var st unix.Stat_t
	must(t, unix.Fstat(f.fd, &st))
	if st.Nlink != 0 {
		t.Fatal("the sleeper's file is nowhere")
	}
	return 8
}

// Each step of a rotation, decided before others rotated once or more and done after it, loses nothing and changes no
// order.
func TestRotationStepThatComesLate(t *testing.T) {
	steps := map[string]func(f *file, ids map[string]fileID) error{
		"the log becomes .1":  func(f *file, ids map[string]fileID) error { return move(f.path, numbered(f.path, 1), f.id) },
		".1 becomes .2":       func(f *file, ids map[string]fileID) error { return lateMoveUp(f, ids, 1) },
		".3 becomes .4":       func(f *file, ids map[string]fileID) error { return lateMoveUp(f, ids, 3) },
		".4 is to be dropped": func(f *file, ids map[string]fileID) error { return lateMoveUp(f, ids, 4) },
		".5 is deleted":       func(f *file, ids map[string]fileID) error { return remove(numbered(f.path, 5)) },
		"the whole rotation":  func(f *file, ids map[string]fileID) error { return f.rotate() },
		".2, once a pipe, is moved aside": func(f *file, ids map[string]fileID) error {
			return setAside(numbered(f.path, 2), fileID{1, 1})
		},
	}
	for name, step := range steps {
		for others := 1; others <= 3; others++ {
			for _, hole := range []int{0, 1, 2} {
				t.Run(fmt.Sprintf("%s, %d later, .%d away", name, others, hole), func(t *testing.T) {
					path := logPath(t)
					l := writer(t, path)
					n := 0
					until := func(k int) {
						for first := idAt(path); k > 0; n++ {
							must(t, l.Write(rec(fmt.Sprint("n", 1000+n))))
							if id := idAt(path); id != first {
								first, k = id, k-1
							}
						}
					}
					until(6)
					f, _ := sleeper(t, path)
					l.file.stuck = true
					ids := idsOf(path)
					until(others)
					before := targets(t, path)
					if hole > 0 {
						// As in the midst of a rotation: the file is on its way up.
						must(t, os.Rename(numbered(path, hole), path+".away"))
						before = targets(t, path)
					}
					if err := step(f, ids); err != nil && !errors.Is(err, errStale) {
						t.Fatal(err)
					}
					same(t, targets(t, path), before)
				})
			}
		}
	}
}

func lateMoveUp(f *file, ids map[string]fileID, k int) error {
	return move(numbered(f.path, k), numbered(f.path, k+1), ids[numbered(f.path, k)])
}

func idAt(path string) fileID {
	st, err := lstat(path)
	if err != nil {
		return fileID{}
	}
	return idOf(&st)
}

func idsOf(path string) map[string]fileID {
	ids := map[string]fileID{path: idAt(path)}
	for k := 1; k <= 4; k++ {
		ids[numbered(path, k)] = idAt(numbered(path, k))
	}
	return ids
}

// What a process left under the number beyond the last when it was killed is gone with the next rotation that needs it.
func TestLeftoverOfAKilledRotation(t *testing.T) {
	path := logPath(t)
	must(t, os.WriteFile(numbered(path, 5), []byte("old"), 0o600))
	l := writer(t, path)
	for range 60 {
		must(t, l.Write(rec("a")))
	}
	if _, err := os.Lstat(numbered(path, 5)); err == nil {
		t.Error("it is still there")
	}
}

// The reader meets a file that is on its way to being dropped.
func TestReaderInTheMidstOfARotation(t *testing.T) {
	path := logPath(t)
	l := writer(t, path)
	for i := range 60 {
		must(t, l.Write(rec(fmt.Sprint("n", 100+i))))
	}
	before := targets(t, path)
	must(t, os.Rename(numbered(path, 4), numbered(path, 5)))
	same(t, targets(t, path), before)
	must(t, os.Rename(numbered(path, 3), numbered(path, 4)))
	same(t, targets(t, path), before)
	must(t, os.Rename(path, numbered(path, 3)))
	if got := targets(t, path); len(got) != len(before) {
		t.Errorf("%d of %d lines", len(got), len(before))
	}
}
