package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lnk/integration/internet"
)

// session is a shell in a sandbox that is given one command after another.
type session struct {
	s      *stage
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr lockedText
	ended  chan struct{}
	state  *os.ProcessState // once ended
	n      int
}

// lockedText is what a command has said so far.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// session starts a shell in a sandbox called name, and waits until it answers.
func (s *stage) session(name, flags string) *session {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	s.t.Cleanup(cancel)
	args := append([]string{"lnk", "sandbox", "run", "-n", name}, strings.Fields(flags)...)
	sh := &session{s: s, cmd: s.Machine.Command(ctx, s.who, append(args, "--", "sh", "-s")...), ended: make(chan struct{})}
	out, err := sh.cmd.StdoutPipe()
	if err == nil {
		sh.in, err = sh.cmd.StdinPipe()
	}
	sh.cmd.Stderr = &sh.stderr
	if err == nil {
		err = sh.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	sh.out = bufio.NewReader(out)
	s.t.Cleanup(sh.close)
	sh.do("true")
	go func() {
		sh.state, _ = sh.cmd.Process.Wait() // the pipes stay open for who reads them
		close(sh.ended)
	}()
	return sh
}

// do runs a command line and gives what it printed (its errors too) and its status.
func (sh *session) do(line string) internet.Result {
	sh.s.t.Helper()
	sh.n++
	mark := fmt.Sprintf("mark-%d-", sh.n)
	start := time.Now()
	fmt.Fprintf(sh.in, "( %s ) 2>&1 </dev/null; echo \"\n%s$?\"\n", line, mark)
	var printed strings.Builder
	for {
		text, err := sh.out.ReadString('\n')
		if err != nil {
			sh.s.t.Fatalf("the shell in the sandbox has ended: %v\n%s\n%s", err, printed.String(), sh.stderr.String())
		}
		if rest, is := strings.CutPrefix(text, mark); is {
			r := internet.Result{Stdout: strings.TrimSuffix(printed.String(), "\n"), Took: time.Since(start)}
			fmt.Sscan(rest, &r.Status)
			return r
		}
		printed.WriteString(text)
	}
}

// exec gives the shell a line that it doesn't come back from.
func (sh *session) exec(line string) { fmt.Fprintln(sh.in, line) }

// awaitLine reads what is printed up to a line.
func (sh *session) awaitLine(want string) {
	sh.s.t.Helper()
	for {
		line, err := sh.out.ReadString('\n')
		if err != nil {
			sh.s.t.Fatalf("waiting for %q: %v\n%s", want, err, sh.stderr.String())
		}
		if strings.TrimSpace(line) == want {
			return
		}
	}
}

// status waits for lnk's end and gives its exit status.
func (sh *session) status() int {
	sh.s.t.Helper()
	select {
	case <-sh.ended:
	case <-time.After(10 * time.Second):
		sh.s.t.Fatalf("lnk goes on: %s", sh.stderr.String())
	}
	return internet.Status(sh.state)
}

// begin starts a command line in the background of the shell.
func (sh *session) begin(line string) {
	fmt.Fprintf(sh.in, "( %s ) >/dev/null 2>&1 </dev/null &\n", line)
}

// close ends the shell and waits for lnk.
func (sh *session) close() {
	sh.in.Close()
	select {
	case <-sh.ended:
	case <-time.After(10 * time.Second):
		sh.s.t.Errorf("the sandbox's input was closed, and it didn't end: %s", sh.stderr.String())
		syscall.Kill(-sh.cmd.Process.Pid, syscall.SIGKILL)
		<-sh.ended
	}
}

// lnkPID is the process that is lnk itself, the proxy: under sudo a child of what was started.
func (sh *session) lnkPID() int {
	sh.s.t.Helper()
	return lnkProcess(sh.s.t, sh.cmd.Process.Pid)
}

// lnkProcess finds the outermost lnk at or below a process.
func lnkProcess(t testing.TB, pid int) int {
	t.Helper()
	for depth := 0; depth < 5; depth++ {
		if comm(pid) == "lnk" {
			return pid
		}
		children := childrenOf(pid)
		if len(children) == 0 {
			break
		}
		pid = children[0]
	}
	t.Fatalf("no lnk at or below process %d (%s)", pid, comm(pid))
	return 0
}
