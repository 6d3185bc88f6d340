package internet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A program that enters the world is started three times: by whoever runs it (outside), as the first process of the
// new namespaces (first), which prepares the files and reaps, and as itself (inside).
const (
	stageVar   = "LNK_INTERNET_STAGE"
	stageFirst = "first"
	stageIn    = "inside"
	toolsVar   = "LNK_INTERNET_TOOLS"
)

// Tool is a program built from this module before the world is entered; inside, it is in /usr/local/bin.
type Tool struct {
	Name    string // the command's name
	Package string // its import path
}

// Enter moves the program to the machine of the small internet. It returns only there: where it was called first, it
// builds the tools, starts the program again and exits with that one's status. It needs root.
func Enter(tools ...Tool) {
	switch os.Getenv(stageVar) {
	case stageIn:
		os.Unsetenv(stageVar)
	case stageFirst:
		os.Exit(report(first()))
	default:
		os.Exit(report(outside(tools)))
	}
}

func report(status int, err error) int {
	if err != nil {
		fmt.Fprintf(os.Stderr, "small internet: %v\n", err)
		return 1
	}
	return status
}

// outside builds the tools and starts the first process of the new namespaces. That one dies with this thread.
func outside(tools []Tool) (int, error) {
	if os.Geteuid() != 0 {
		return 0, errors.New("it makes namespaces and runs servers as several users, so it needs root: make test, or sudo")
	}
	bins, err := build(tools)
	if err != nil {
		return 0, err
	}
	runtime.LockOSThread()
	cmd := exec.Command("/proc/self/exe", insideArgs(os.Args[1:])...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), stageVar+"="+stageFirst)
	for i, f := range bins {
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s_%d=%s", toolsVar, i, tools[i].Name))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Pdeathsig:  unix.SIGKILL,
	}
	return run(cmd)
}

// insideArgs drops the test flags that name files of the machine outside, which can't be seen inside.
func insideArgs(args []string) []string {
	var kept []string
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-test.testlogfile") {
			kept = append(kept, arg)
		}
	}
	return kept
}

// run runs a stage, passes on the signals that end it, and gives its exit status.
func run(cmd *exec.Cmd) (int, error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT, unix.SIGHUP)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("entering the namespaces: %w", err)
	}
	go func() {
		for s := range signals {
			cmd.Process.Signal(s)
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("waiting for the namespaces' first process: %w", err)
	}
	if status := cmd.ProcessState.ExitCode(); status >= 0 {
		return status, nil
	}
	return 0, fmt.Errorf("ended by %v", cmd.ProcessState)
}

// build builds the tools, as make build does, and as the user who called sudo, whose build cache it is, and opens them: inside, the folder they
// are in can't be seen.
func build(tools []Tool) ([]*os.File, error) {
	dir, err := os.MkdirTemp("", "lnk-internet-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the tools: %w", err)
	}
	defer os.RemoveAll(dir)
	caller, env, err := builder(dir)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, tool := range tools {
		path := filepath.Join(dir, tool.Name)
		cmd := exec.Command("go", "build", "-trimpath", "-o", path, tool.Package)
		cmd.Env, cmd.SysProcAttr = append(env, "CGO_ENABLED=0"), &syscall.SysProcAttr{Credential: caller}
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building %s: %w\n%s", tool.Package, err, out)
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("opening the built %s: %w", tool.Name, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// builder is who builds (nil: this user) and in which environment.
func builder(dir string) (*syscall.Credential, []string, error) {
	id := os.Getenv("SUDO_UID")
	if id == "" || id == "0" {
		return nil, os.Environ(), nil
	}
	u, err := user.LookupId(id)
	if err != nil {
		return nil, nil, fmt.Errorf("looking up who called sudo: %w", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, nil, fmt.Errorf("giving the tools' folder to %s: %w", u.Username, err)
	}
	env := append(os.Environ(), "HOME="+u.HomeDir)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, env, nil
}

// first is the first process of the new pid namespace: it lays the machine's files, starts the program itself, and
// reaps every orphan until that one ends; the kernel then ends all that is left.
func first() (int, error) {
	if err := layFiles(); err != nil {
		return 0, fmt.Errorf("laying the machine's files: %w", err)
	}
	if err := unix.Sethostname([]byte(hostname)); err != nil {
		return 0, fmt.Errorf("naming the machine: %w", err)
	}
	runtime.LockOSThread()
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = insideEnv()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT, unix.SIGHUP)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("starting the program on the machine: %w", err)
	}
	go func() {
		for s := range signals {
			cmd.Process.Signal(s)
		}
	}()
	return reap(cmd.Process.Pid)
}

func insideEnv() []string {
	env := []string{stageVar + "=" + stageIn}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, stageVar) && !strings.HasPrefix(v, toolsVar) && !strings.HasPrefix(v, "TMPDIR=") {
			env = append(env, v)
		}
	}
	return env
}

func reap(program int) (int, error) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("waiting for the program: %w", err)
		}
		if pid != program || !status.Exited() && !status.Signaled() {
			continue
		}
		if status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return status.ExitStatus(), nil
	}
}
