package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// program is the process that a room is for, once it runs.
type program struct{ pid, pidfd int }

// signal goes by the pidfd: the pid may be another process's once init has reaped the program.
func (p program) signal(sig unix.Signal) {
	switch {
	case p.pid == 0:
	case p.pidfd >= 0:
		unix.PidfdSendSignal(p.pidfd, sig, nil, 0)
	default: // a kernel without clone's pidfds
		unix.Kill(p.pid, sig)
	}
}

// start executes the program as init is by then: the user, the mounts, no privilege. It shares the caller's process group,
// session and terminal, so that job control means it; fork gives it the caller's limits, umask, priority and signal mask.
func (r *roomInit) start(body runBody) (int, error) {
	env := texts(body.Env)
	if err := enter(string(body.Dir)); err != nil {
		return 0, err
	}
	argv := texts(body.Argv)
	path, err := lookPath(argv[0], env)
	if err != nil {
		return 0, err
	}
	pidfd := -1
	attr := &syscall.ProcAttr{Env: env, Files: programFiles(body), Sys: &syscall.SysProcAttr{PidFD: &pidfd, Setpgid: body.OwnGroup}}
	pid, err := syscall.ForkExec(path, argv, attr)
	if errors.Is(err, unix.ENOEXEC) { // execvp's way with a script that names no interpreter
		pid, err = syscall.ForkExec("/bin/sh", append([]string{"sh", path}, argv[1:]...), attr)
	}
	if err != nil {
		return 0, execError(argv[0], err)
	}
	r.mu.Lock()
	r.program = program{pid, pidfd}
	r.mu.Unlock()
	if body.Capabilities != 0 {
		return pid, new(threads).capset(0, 0) // init held them for the program to inherit
	}
	return pid, nil
}

// enter goes to the working directory by its path: the one that init was cloned in may be under what is covered now.
func enter(dir string) error {
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return fmt.Errorf("finding the working directory: %w", err)
		}
	}
	if err := unix.Chdir(dir); err != nil {
		return fmt.Errorf("going to the working directory %s: %w", dir, err)
	}
	return nil
}

func programFiles(body runBody) []uintptr {
	files := []uintptr{0, 1, 2}
	for i, open := range body.Stdio {
		if !open {
			files[i] = ^uintptr(0)
		}
	}
	for i := range body.Extra {
		files = append(files, uintptr(socketFD+1+i))
	}
	return files
}

// lookPath finds a program as execvp does: a name with a slash is a path, any other is looked for in the PATH it will have.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	var denied error
	for _, dir := range strings.Split(searchPath(env), ":") {
		path := dir + "/" + name
		if dir == "" {
			path = "./" + name
		}
		switch err := executable(path); {
		case err == nil:
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			denied = err
		}
	}
	if denied != nil {
		return "", execError(name, denied)
	}
	return "", execError(name, unix.ENOENT)
}

// searchPath is the PATH of env, or glibc's own where there is none. Of two, getenv sees the first.
func searchPath(env []string) string {
	for _, entry := range env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return path
		}
	}
	return "/bin:/usr/bin"
}

func executable(path string) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return unix.EACCES // as execve says of a folder
	}
	return unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS)
}

// execError gives an error of exec's the status that a shell would exit with.
func execError(name string, err error) error {
	status := 126
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		status = 127
	}
	return &ExecError{Status: status, Path: name, Err: err}
}

// reapAll waits for every process of the room that has lost its parent, until the program ends. That the program has
// stopped it only reports.
func (r *roomInit) reapAll(pid int) (endedBody, error) {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, unix.WUNTRACED, nil)
		if err == unix.ECHILD {
			return endedBody{}, fmt.Errorf("waiting for the program: %w", err)
		}
		if err != nil || got != pid {
			continue
		}
		if status.Stopped() {
			if err := r.ch.send(kindStopped, stoppedBody{Signal: status.StopSignal()}); err != nil {
				return endedBody{}, err
			}
			continue
		}
		if status.Signaled() {
			return endedBody{Signal: status.Signal()}, nil
		}
		return endedBody{Code: status.ExitStatus()}, nil
	}
}
