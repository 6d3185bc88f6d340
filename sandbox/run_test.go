package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"lnk/netns"
	"lnk/policy"
	"lnk/settings"
	"lnk/spec"
)

// fakeLaunch is a launch that makes no namespaces: its listeners are the test's own, on the loopback.
type fakeLaunch struct {
	t      *testing.T
	fail   map[string]error // by step
	status netns.Status
	plan   netns.Plan
	inRoom func() // called while the program runs
	onGo   func()

	mu     sync.Mutex
	steps  []string
	got    []unix.Signal
	signal chan unix.Signal
}

func (l *fakeLaunch) step(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps = append(l.steps, name)
	return l.fail[name]
}

func (l *fakeLaunch) Become(netns.Identity) error { return l.step("become") }

func (l *fakeLaunch) Build(p netns.Plan) (*netns.Room, error) {
	l.plan = p
	if err := l.step("build"); err != nil {
		return nil, err
	}
	tcp := func() *net.TCPListener {
		ln, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			l.t.Error(err)
		}
		return ln
	}
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		l.t.Error(err)
	}
	return &netns.Room{IPv6: true, Wire: []*net.TCPListener{tcp()}, DNSTCP: []*net.TCPListener{tcp()}, DNSUDP: []*net.UDPConn{udp}}, nil
}

func (l *fakeLaunch) Go() error {
	if l.onGo != nil {
		l.onGo()
	}
	return l.step("go")
}

func (l *fakeLaunch) Signal(s unix.Signal) error {
	l.mu.Lock()
	l.got = append(l.got, s)
	l.mu.Unlock()
	l.signal <- s
	return nil
}

func (l *fakeLaunch) Wait() (netns.Status, error) {
	if l.inRoom != nil {
		l.inRoom()
	}
	return l.status, l.step("wait")
}

func (l *fakeLaunch) Close() error { return l.step("close") }

// options are those of a run by this user, in settings of the test's own.
func options(t *testing.T, l *fakeLaunch) (Options, settings.Home) {
	t.Helper()
	home := testHome(t)
	l.t, l.signal = t, make(chan unix.Signal, 8)
	who := asking(func(a *Asking) { a.Getenv = environ("LNK_HOME", home.Dir(), "HOME", filepath.Dir(home.Dir())) })
	return Options{
		Argv: []string{"/bin/prog", "-x"}, Env: []string{"PATH=/bin", "LNK_HOME=" + home.Dir()}, who: &who,
		start: func(netns.Options) (launch, error) {
			if err := l.step("start"); err != nil {
				return nil, err
			}
			return l, nil
		},
		exec: func(string, []string, []string) error {
			l.t.Error("the program was run without a room")
			return errors.New("no")
		},
	}, home
}

func TestARunInOrder(t *testing.T) {
	l := &fakeLaunch{status: netns.Status{Code: 7}}
	o, home := options(t, l)
	var told []Event
	o.Tell = func(e Event) { told = append(told, e) }
	l.inRoom = func() {
		runs, errs := List(home)
		if len(runs) != 1 || len(errs) != 0 || runs[0].Program != "prog" || runs[0].Mode != "open" || !runs[0].Unnamed {
			t.Errorf("while it runs the list is %+v, %v", runs, errs)
		}
		put(t, home.Paused(runs[0].Name), "why")
	}
	status, err := Run(t.Context(), o)
	if status != 7 || err != nil {
		t.Errorf("status %d, error %v, want the program's 7", status, err)
	}
	if want := []string{"start", "become", "build", "go", "wait", "close"}; !slices.Equal(l.steps, want) {
		t.Errorf("steps %q, want %q", l.steps, want)
	}
	if len(told) != 1 || told[0].(Started).Mode != policy.ModeOpen {
		t.Errorf("told %v, want that it started", told)
	}
	for _, folder := range []string{home.RunsFolder(), home.PausedFolder(), home.TrafficFolder()} {
		if left := entries(t, folder); len(left) != 0 {
			t.Errorf("%s holds %q afterwards, want nothing", folder, left)
		}
	}
	if l.plan.Argv[0] != "/bin/prog" || slices.Contains(l.plan.Env, "LNK_HOME="+home.Dir()) || !slices.Contains(l.plan.Cover, home.Dir()) {
		t.Errorf("the plan is %+v", l.plan)
	}
}

func TestWhateverGoesWrongBeforeTheProgramRuns(t *testing.T) {
	tests := map[string]struct {
		options func(t *testing.T, o *Options, home settings.Home, l *fakeLaunch)
		last    []string // steps
		err     string
	}{
		"no program": {
			func(_ *testing.T, o *Options, _ settings.Home, _ *fakeLaunch) { o.Argv = nil }, nil, "no program"},
		"a name that is none": {
			func(_ *testing.T, o *Options, _ settings.Home, _ *fakeLaunch) { o.Name = "../x" }, nil, "letters, digits"},
		"no room can be started": {
			func(_ *testing.T, _ *Options, _ settings.Home, l *fakeLaunch) {
				l.fail["start"] = errors.New("no right")
			},
			[]string{"start"}, "no right"},
		"the process can't become the caller": {
			func(_ *testing.T, _ *Options, _ settings.Home, l *fakeLaunch) {
				l.fail["become"] = errors.New("no user")
			},
			[]string{"start", "become", "close"}, "no user"},
		"a spec that isn't there": {
			func(_ *testing.T, o *Options, _ settings.Home, _ *fakeLaunch) { o.SpecFile = "/nowhere.toml" },
			[]string{"start", "become", "close"}, "/nowhere.toml"},
		"a malformed spec, although no room could be started either": {
			func(t *testing.T, o *Options, home settings.Home, l *fakeLaunch) {
				l.fail["start"] = errors.New("no right")
				o.Name = "build"
				put(t, home.Spec("build"), "[network]\nendpoint = []\n")
			}, []string{"start"}, "endpoint"},
		"a flag that is no endpoint": {
			func(_ *testing.T, o *Options, _ settings.Home, _ *fakeLaunch) {
				o.Flags = spec.Flags{Endpoints: []string{"https://a.example.org/"}}
			},
			[]string{"start", "become", "close"}, "https://a.example.org/"},
		"a name that is taken": {
			func(t *testing.T, o *Options, home settings.Home, _ *fakeLaunch) {
				o.Name = "build"
				putRecord(t, home.Run("build"), aRun(t, "build"))
			}, []string{"start", "become", "close"}, "taken"},
		"a room that can't be built": {
			func(_ *testing.T, _ *Options, _ settings.Home, l *fakeLaunch) {
				l.fail["build"] = errors.New("no rules")
			},
			[]string{"start", "become", "build", "close"}, "no rules"},
		"a log that can't be opened": {
			func(t *testing.T, _ *Options, home settings.Home, _ *fakeLaunch) {
				if err := os.Mkdir(home.Log(), 0o700); err != nil {
					t.Fatal(err)
				}
			}, []string{"start", "become", "build", "close"}, "wire.log"},
		"a program that isn't there": {
			func(_ *testing.T, _ *Options, _ settings.Home, l *fakeLaunch) {
				l.fail["go"] = &netns.ExecError{Status: 127, Path: "prog", Err: fs.ErrNotExist}
			}, []string{"start", "become", "build", "go", "close"}, "not exist"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := &fakeLaunch{fail: map[string]error{}}
			o, home := options(t, l)
			tt.options(t, &o, home, l)
			before := entries(t, home.RunsFolder())
			status, err := Run(t.Context(), o)
			if err == nil || status != 0 || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("status %d, error %v, want one with %q", status, err, tt.err)
			}
			if !slices.Equal(l.steps, tt.last) {
				t.Errorf("steps %q, want %q", l.steps, tt.last)
			}
			after := slices.DeleteFunc(entries(t, home.RunsFolder()), func(s string) bool { return s == ".lock" })
			if !slices.Equal(after, before) {
				t.Errorf("the folder of runs holds %q afterwards, want %q", after, before)
			}
		})
	}
}

func TestExitStatus(t *testing.T) {
	tests := map[string]struct {
		status netns.Status
		want   int
	}{
		"its own":              {netns.Status{Code: 3}, 3},
		"0":                    {netns.Status{}, 0},
		"128 and the signal's": {netns.Status{Signal: unix.SIGSEGV}, 139},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := exitStatus(tt.status); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}

func TestASignalIsPassedOnAndOutlived(t *testing.T) {
	l := &fakeLaunch{status: netns.Status{Signal: unix.SIGTERM}}
	o, _ := options(t, l)
	l.inRoom = func() {
		for _, sig := range []unix.Signal{unix.SIGUSR1, unix.SIGTERM} {
			if err := unix.Kill(os.Getpid(), sig); err != nil {
				t.Error(err)
			}
			if got := <-l.signal; got != sig {
				t.Errorf("the program got %v, want %v", got, sig)
			}
		}
	}
	if status, err := Run(t.Context(), o); status != 143 || err != nil {
		t.Errorf("status %d, error %v, want 143", status, err)
	}
}

func TestASignalBeforeTheProgramRuns(t *testing.T) {
	s := &signals{arrived: make(chan os.Signal, 4)}
	s.arrived <- unix.SIGWINCH
	if got := s.early(); got != 0 {
		t.Errorf("a resized window ends the run with %v", got)
	}
	s.arrived <- unix.SIGWINCH
	s.arrived <- unix.SIGINT
	if got := s.early(); got != unix.SIGINT {
		t.Errorf("got %v, want SIGINT", got)
	}
}

func TestModeHostRunsTheProgramItself(t *testing.T) {
	l := &fakeLaunch{}
	o, home := options(t, l)
	o.Argv = []string{"sh", "-c", "exit 3"}
	o.Name = "bare"
	put(t, home.Spec("bare"), "[network]\nmode = \"host\"\n")
	o.Env = []string{"HTTPS_PROXY=x", "SUDO_UID=1"}
	var told []Event
	o.Tell = func(e Event) { told = append(told, e) }
	ran := ""
	o.exec = func(path string, argv, env []string) error {
		ran = fmt.Sprint(filepath.Base(path), argv, env)
		return unix.ENOEXEC // as if it couldn't be: exec returns in no other case
	}
	_, err := Run(t.Context(), o)
	var exec *netns.ExecError
	if !errors.As(err, &exec) || exec.Status != 126 {
		t.Errorf("error %v, want an ExecError with 126", err)
	}
	if ran != "sh[sh -c exit 3] [HTTPS_PROXY=x]" {
		t.Errorf("ran %s", ran)
	}
	if len(told) != 1 || told[0].(Started).Mode != policy.ModeHost {
		t.Errorf("told %v", told)
	}
	if want := []string{"start", "become", "close"}; !slices.Equal(l.steps[:3], want) {
		t.Errorf("steps %q, want the room given up first", l.steps)
	}
	if left := entries(t, home.RunsFolder()); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

func TestModeHostNeedsNoRoom(t *testing.T) {
	tests := map[string]struct {
		spec  string
		flags spec.Flags
		steps []string
	}{
		"asked for by a flag, none is started":                          {"", spec.Flags{Mode: "host"}, nil},
		"asked for by a spec, one that couldn't be started is no error": {"[network]\nmode = \"host\"\n", spec.Flags{}, []string{"start"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := &fakeLaunch{fail: map[string]error{"start": errors.New("no right")}}
			o, home := options(t, l)
			if o.Name, o.Flags = "bare", tt.flags; tt.spec != "" {
				put(t, home.Spec("bare"), tt.spec)
			}
			o.Argv = []string{"no-such-program-anywhere"}
			_, err := Run(t.Context(), o)
			var exec *netns.ExecError
			if !errors.As(err, &exec) || exec.Status != 127 {
				t.Errorf("error %v, want an ExecError with 127", err)
			}
			if !slices.Equal(l.steps, tt.steps) {
				t.Errorf("steps %q, want %q", l.steps, tt.steps)
			}
		})
	}
}

func TestAnUnnamedRunTakesNoPausedName(t *testing.T) {
	for range 20 { // the pause of a name is looked at before it is taken
		l := &fakeLaunch{}
		o, home := options(t, l)
		l.inRoom = func() {
			runs, _ := List(home)
			if len(runs) == 1 {
				put(t, home.Paused(runs[0].Name), "")
			}
		}
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if left := entries(t, home.PausedFolder()); len(left) != 0 {
			t.Fatalf("pauses left: %q", left)
		}
	}
}

func TestANamedRunsPauseStays(t *testing.T) {
	l := &fakeLaunch{}
	o, home := options(t, l)
	o.Name = "build"
	var told []Event
	o.Tell = func(e Event) { told = append(told, e) }
	put(t, home.Paused("build"), "why")
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if left := entries(t, home.PausedFolder()); !slices.Equal(left, []string{"build"}) {
		t.Errorf("pauses left: %q, want build's", left)
	}
	if len(told) != 1 || told[0].(Started).Closed != string(policy.ReasonPaused) {
		t.Errorf("told %+v, want that it starts paused", told)
	}
}

func TestCallsWithinTheDescriptors(t *testing.T) {
	tests := map[string]struct {
		descriptors uint64
		want        int
	}{
		"many: less than half of them":             {1 << 17, (1<<17 - 1<<14 - 24) / 2},
		"few: what is left beside the run's own":   {1024, 436},
		"hardly any: one":                          {28, 1},
		"no limit at all is no number to overflow": {unix.RLIM_INFINITY, math.MaxInt32},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := callsWithin(tt.descriptors); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}
