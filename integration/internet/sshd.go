package internet

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

const sshdConf = `Port 2222
ListenAddress 127.0.0.1
HostKey %[1]s/host
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
AuthorizedKeysFile %[1]s/authorized
StrictModes no
AllowUsers git
`

// GitFile is a file of the repository, and GitSize its length: long enough that a clone is a real transfer.
const (
	GitFile = "stream"
	GitSize = 3 << 20
)

// startSSH serves git over ssh on port 22 of the addresses with a real OpenSSH, and makes the repository
// ("git clone git@git.test:repo.git").
func (w *World) startSSH(s *Server, addrs ...netip.Addr) error {
	dir, err := folder("ssh", 0, 0o755)
	if err != nil {
		return err
	}
	for _, key := range []string{"host", "client"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", filepath.Join(dir, key)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("making an ssh key: %w\n%s", err, out)
		}
	}
	public, err := os.ReadFile(filepath.Join(dir, "client.pub"))
	if err != nil {
		return err
	}
	conf := filepath.Join(dir, "sshd_config")
	for path, text := range map[string]string{conf: fmt.Sprintf(sshdConf, dir), filepath.Join(dir, "authorized"): string(public)} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		return err
	}
	if err := makeRepository(); err != nil {
		return err
	}
	backend := w.net.loopback(2222)
	ready := func() error {
		c, err := backend()
		if err != nil {
			return err
		}
		return c.Close()
	}
	path, err := look("sshd")
	if err != nil {
		return err
	}
	if _, err := w.net.start(0, 0, ready, path, "-D", "-e", "-f", conf); err != nil {
		return err
	}
	return s.front(22, backend, addrs...)
}

// makeRepository makes the repository with one commit, of the user git's own.
func makeRepository() error {
	home, err := folder("git", git.id, 0o755)
	if err != nil {
		return err
	}
	work := filepath.Join(home, "work")
	run := func(args ...string) error {
		cmd := exec.Command("git", args...)
		cmd.Dir = home
		cmd.Env = []string{"PATH=" + searchPath, "HOME=" + home, "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@machine", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@machine"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(git.id), Gid: uint32(git.id)}}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := run("init", "-q", "-b", "main", work); err != nil {
		return err
	}
	file := filepath.Join(work, GitFile)
	cmd := exec.Command("head", "-c", fmt.Sprint(GitSize), "/dev/urandom")
	random, err := cmd.Output()
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, random, 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"-C", work, "add", "."}, {"-C", work, "commit", "-q", "-m", "A stream"}, {"clone", "-q", "--bare", work, "repo.git"},
	} {
		if err := run(args...); err != nil {
			return err
		}
	}
	return nil
}

// LaySSH gives a user the key and the known host that "ssh git@git.test" needs, as a person would have them.
func (w *World) LaySSH(u User) error {
	dir := filepath.Join(u.home(), ".ssh")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key, err := os.ReadFile(filepath.Join(serverDir, "ssh/client"))
	if err != nil {
		return err
	}
	host, err := os.ReadFile(filepath.Join(serverDir, "ssh/host.pub"))
	if err != nil {
		return err
	}
	known := fmt.Sprintf("git.test,%s,%s %s", Addr4(22), Addr6(22), host)
	for file, text := range map[string]string{"id_ed25519": string(key), "known_hosts": known} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			return err
		}
		if err := os.Chown(filepath.Join(dir, file), u.uid(), u.uid()); err != nil {
			return err
		}
	}
	return os.Chown(dir, u.uid(), u.uid())
}
