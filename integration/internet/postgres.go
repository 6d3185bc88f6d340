package internet

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// startPostgres serves PostgreSQL, TLS included, on port 5432 of the addresses, for a user "ada" without a password.
func (w *World) startPostgres(s *Server, addrs ...netip.Addr) error {
	bin, err := postgresBin()
	if err != nil {
		return err
	}
	owner, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("looking up the user of the database: %w", err)
	}
	uid, _ := strconv.Atoi(owner.Uid)
	gid, _ := strconv.Atoi(owner.Gid)
	dir, err := folder("postgres", uid, 0o700)
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", ada.name, "--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C")
	initdb.Dir = dir
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("making the database: %w\n%s", err, out)
	}
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := w.Authority.write("db.test", cert, key, uid); err != nil {
		return err
	}
	ready := func() error {
		return exec.Command(filepath.Join(bin, "pg_isready"), "-q", "-h", dir).Run()
	}
	_, err = w.net.start(uid, gid, ready, filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-h", "127.0.0.1", "-p", "5432",
		"-c", "ssl=on", "-c", "ssl_cert_file="+cert, "-c", "ssl_key_file="+key, "-c", "fsync=off")
	if err != nil {
		return err
	}
	return s.front(5432, w.net.loopback(5432), addrs...)
}

// postgresBin is the newest PostgreSQL's folder of programs.
func postgresBin() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("looking for PostgreSQL: no /usr/lib/postgresql/*/bin/initdb: %w", os.ErrNotExist)
	}
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(found[len(found)-1]), nil
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}
