package wirelog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lnk/settings"
)

func put(t testing.TB, path string, records ...Record) {
	t.Helper()
	var b strings.Builder
	for _, r := range records {
		b.WriteString(Format(r))
	}
	appendRaw(t, path, b.String())
}

func at(minutes int, name settings.Name, v Verb, target string, o Outcome) Record {
	return Record{Time: noon.Add(time.Duration(minutes) * time.Minute), Sandbox: name, Verb: v, Target: NameTarget(target), Outcome: o}
}

func TestQuery(t *testing.T) {
	path := logPath(t)
	put(t, numbered(path, 2), at(0, "a", TCP, "1", Allowed), at(1, "b", TCP, "2", Refused))
	put(t, numbered(path, 1), at(2, "a", DNS, "3", Refused), at(1, "b", TCP, "4", Ended))
	appendRaw(t, numbered(path, 1), "broken\x1b[2J\n")
	put(t, path, at(4, "a", TCP, "5", Failed), at(5, "a", TCP, "6", Allowed))
	for name, tt := range map[string]struct {
		q    Query
		want string
	}{
		"all, over all files in order": {Query{}, `1 2 3 4 broken\x1b[2J 5 6`},
		"of a sandbox":                 {Query{Sandbox: "b"}, `2 4 broken\x1b[2J`},
		"since a time":                 {Query{Since: noon.Add(2 * time.Minute)}, `3 broken\x1b[2J 5 6`},
		"of a verb":                    {Query{Verb: DNS}, `3 broken\x1b[2J`},
		"of an outcome":                {Query{Outcome: Allowed}, `1 broken\x1b[2J 6`},
		"all at once":                  {Query{Sandbox: "a", Verb: TCP, Outcome: Allowed, Since: noon.Add(time.Minute)}, `broken\x1b[2J 6`},
		"the last":                     {Query{Last: 1}, `6`},
		"the last three":               {Query{Last: 3}, `broken\x1b[2J 5 6`},
		"the last of a sandbox":        {Query{Sandbox: "b", Last: 2}, `4 broken\x1b[2J`},
		"more than there are":          {Query{Last: 100}, `1 2 3 4 broken\x1b[2J 5 6`},
		"none":                         {Query{Last: -1}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, l := range lines(t, path, tt.q) {
				if l.Err != nil {
					got = append(got, l.Text)
				} else {
					got = append(got, l.Record.Target.String())
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
		})
	}
}

func TestReadStopsWhereItIsToldTo(t *testing.T) {
	path := logPath(t)
	put(t, numbered(path, 1), at(0, "a", TCP, "1", Allowed), at(1, "a", TCP, "2", Allowed))
	put(t, path, at(2, "a", TCP, "3", Allowed))
	for n := 1; n <= 3; n++ {
		got := 0
		for range Read(path, Query{}) {
			if got++; got == n {
				break
			}
		}
		if got != n {
			t.Errorf("got %d lines, wanted %d", got, n)
		}
	}
}

func TestLogThatIsNotThereIsEmpty(t *testing.T) {
	if got := lines(t, logPath(t), Query{}); len(got) != 0 {
		t.Error(got)
	}
}

// What isn't a log of this user's is an error beside the other files.
func TestFileThatCannotBeRead(t *testing.T) {
	path := logPath(t)
	put(t, path, at(0, "a", TCP, "1", Allowed))
	put(t, numbered(path, 2), at(0, "a", TCP, "2", Allowed))
	put(t, path+".x", at(0, "a", TCP, "3", Allowed))
	must(t, os.Symlink(path+".x", numbered(path, 1)))
	must(t, unix.Mkfifo(numbered(path, 3), 0o600))
	var got []string
	var errs []error
	for l, err := range Read(path, Query{}) {
		if err != nil {
			errs = append(errs, err)
		} else {
			got = append(got, l.Record.Target.String())
		}
	}
	same(t, got, []string{"2", "1"})
	if s := fmt.Sprint(errs); len(errs) != 2 || !strings.Contains(s, "a symbolic link") || !strings.Contains(s, "a pipe") {
		t.Error(errs)
	}
}

func TestLinesThatCannotBeRead(t *testing.T) {
	whole := strings.TrimSuffix(Format(at(0, "a", TCP, "whole", Refused)), "\n")
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"a torn line before a whole one":    {whole[:40] + whole + "\n", []string{whole[:40], whole}},
		"two torn lines":                    {whole[:30] + whole[:20] + whole + "\n", []string{whole[:30] + whole[:20], whole}},
		"a line without an end":             {whole + "\n" + whole[:30], []string{whole, whole[:30]}},
		"the last line whole, but no end":   {whole, []string{whole}},
		"an empty line":                     {"\n\n" + whole + "\n", []string{whole}},
		"a line of 10,000 characters":       {strings.Repeat("x", 10_000) + "\n" + whole + "\n", []string{strings.Repeat("x", 999) + "…", whole}},
		"a megabyte without an end":         {strings.Repeat("x", 1<<20), []string{strings.Repeat("x", 999) + "…"}},
		"NULs, as a crash can leave them":   {"\x00\x00\n" + whole + "\n", []string{`\x00\x00`, whole}},
		"NULs before a line":                {"\x00\x00" + whole + "\n", []string{`\x00\x00`, whole}},
		"a forged line, torn by its colour": {"\x1b[32m" + whole + "\n", []string{`\x1b[32m`, whole}},
	} {
		t.Run(name, func(t *testing.T) {
			path := logPath(t)
			appendRaw(t, path, tt.text)
			same(t, texts(t, path), tt.want)
		})
	}
}

// followed follows a log until it gave n lines, and calls act after each.
func followed(t *testing.T, path string, q Query, n int, act func(i int)) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var got []string
	act(0)
	for l, err := range Follow(ctx, path, q) {
		if err != nil {
			got = append(got, "error: "+errors.Unwrap(err).Error())
		} else if l.Err != nil {
			got = append(got, "unreadable: "+l.Text)
		} else {
			got = append(got, l.Record.Target.String())
		}
		if len(got) == n {
			break
		}
		act(len(got))
	}
	return got
}

func TestFollow(t *testing.T) {
	line := func(name string) Record { return at(0, "a", TCP, name, Allowed) }
	tests := map[string]struct {
		q    Query
		act  map[int]func(t *testing.T, path string) // after so many lines
		want []string
	}{
		"what is there and what is added": {Query{}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) { put(t, p, line("1"), line("2")) },
			2: func(t *testing.T, p string) { put(t, p, line("3")) },
		}, []string{"1", "2", "3"}},
		"the last one of what is there": {Query{Last: 1}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) { put(t, p, line("1"), line("2")) },
			1: func(t *testing.T, p string) { put(t, p, line("3"), line("4")) },
		}, []string{"2", "3", "4"}},
		"a log that isn't there yet": {Query{}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) {
				time.AfterFunc(10*time.Millisecond, func() { put(t, p, line("1")) })
			},
		}, []string{"1"}},
		"over three rotations at once": {Query{}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) { put(t, p, line("1")) },
			1: func(t *testing.T, p string) {
				put(t, p, line("2"))
				for i := 3; i <= 5; i++ {
					for k := 3; k > 0; k-- {
						_ = os.Rename(numbered(p, k), numbered(p, k+1))
					}
					must(t, os.Rename(p, numbered(p, 1)))
					put(t, p, line(fmt.Sprint(i)))
				}
			},
		}, []string{"1", "2", "3", "4", "5"}},
		"a late line in a file that was rotated": {Query{}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) { put(t, p, line("1")) },
			1: func(t *testing.T, p string) { must(t, os.Rename(p, numbered(p, 1))); put(t, p, line("2")) },
			2: func(t *testing.T, p string) { put(t, numbered(p, 1), line("3")) },
		}, []string{"1", "2", "3"}},
		"a line in two writes": {Query{}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) { put(t, p, line("1")); appendRaw(t, p, Format(line("2"))[:30]) },
			1: func(t *testing.T, p string) { appendRaw(t, p, Format(line("2"))[30:]) },
		}, []string{"1", "2"}},
		"a log that was cut": {Query{}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) { put(t, p, line("1"), line("2"), line("3")) },
			3: func(t *testing.T, p string) { must(t, os.Truncate(p, 0)); put(t, p, line("4")) },
		}, []string{"1", "2", "3", "4"}},
		"a log that was deleted": {Query{}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) { put(t, p, line("1")) },
			1: func(t *testing.T, p string) { must(t, os.Remove(p)); put(t, p, line("2")) },
		}, []string{"1", "2"}},
		"a piece of a line in a log that was deleted": {Query{}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) { put(t, p, line("1")) },
			1: func(t *testing.T, p string) { appendRaw(t, p, "piece"); must(t, os.Remove(p)) },
		}, []string{"1", "unreadable: piece"}},
		"a folder that was replaced": {Query{}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) { put(t, p, line("1")) },
			1: func(t *testing.T, p string) {
				d := filepath.Dir(p)
				must(t, os.Rename(d, d+".old"))
				must(t, os.Mkdir(d, 0o700))
				put(t, p, line("2"))
			},
		}, []string{"1", "2"}},
		"a link in the log's place, said once": {Query{}, map[int]func(*testing.T, string){
			0: func(t *testing.T, p string) { put(t, p, line("1")) },
			1: func(t *testing.T, p string) {
				must(t, os.Rename(p, numbered(p, 1)))
				must(t, os.Symlink("/dev/null", p))
			},
			2: func(t *testing.T, p string) { put(t, numbered(p, 1), line("2")) },
			3: func(t *testing.T, p string) { must(t, os.Remove(p)); put(t, p, line("3")) },
		}, []string{"1", "error: it is a symbolic link, not a file", "2", "3"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "logs", "wire.log")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			got := followed(t, path, tt.q, len(tt.want), func(i int) {
				if act := tt.act[i]; act != nil {
					act(t, path)
				}
			})
			same(t, got, tt.want)
		})
	}
}

func TestFollowEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	path := logPath(t)
	put(t, path, at(0, "a", TCP, "1", Allowed))
	for range Follow(ctx, path, Query{}) {
		cancel()
	}
}

func TestSummarize(t *testing.T) {
	path := logPath(t)
	one := at(0, "a", Connect, "one", Allowed)
	ended := at(1, "a", Connect, "one", Ended)
	ended.Out, ended.In = 100, 2000
	two := at(2, "a", TCP, "two", Refused)
	two.More = 880
	put(t, path, one, ended, one, ended, two, at(3, "a", TCP, "three", Failed))
	appendRaw(t, path, "broken\n")
	must(t, os.Symlink("x", numbered(path, 1)))
	got, err := Summarize(Read(path, Query{}))
	if err == nil || !strings.Contains(err.Error(), "a symbolic link") {
		t.Errorf("error %v", err)
	}
	want := fmt.Sprint([]Sum{
		{NameTarget("one"), 2, 0, 0, 200, 4000, one.Time, ended.Time},
		{NameTarget("three"), 0, 0, 1, 0, 0, noon.Add(3 * time.Minute), noon.Add(3 * time.Minute)},
		{NameTarget("two"), 0, 1, 0, 0, 0, two.Time, two.Time},
	})
	if s := fmt.Sprint(got.Targets); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if got.Unreadable != 1 || len(got.LeftOut) != 1 || got.LeftOut[Refused] != 880 || got.Total.Calls() != 4 || got.Total.In != 4000 {
		t.Errorf("got %+v", got)
	}
}

// 40 MB, what a full log holds.
func fullLog(b *testing.B) string {
	path := logPath(b)
	var text strings.Builder
	for i := 0; text.Len() < DefaultSize; i++ {
		r := at(i/1000, "build", Connect, fmt.Sprintf("host-%d.example.org", i%5000), outcomes[i%4])
		r.Out, r.In = 1834, 20117
		text.WriteString(Format(r))
	}
	for k := range 5 {
		name := path
		if k > 0 {
			name = numbered(path, k)
		}
		must(b, os.WriteFile(name, []byte(text.String()), 0o600))
	}
	b.SetBytes(5 * int64(text.Len()))
	return path
}

func BenchmarkRead40MB(b *testing.B) {
	path := fullLog(b)
	for b.Loop() {
		for _, err := range Read(path, Query{Sandbox: "build", Last: 10}) {
			must(b, err)
		}
	}
}

func BenchmarkSummarize40MB(b *testing.B) {
	path := fullLog(b)
	for b.Loop() {
		_, err := Summarize(Read(path, Query{}))
		must(b, err)
	}
}
