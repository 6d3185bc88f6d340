package integration

import (
	"testing"

	"lnk/integration/internet"
)

func TestGit(t *testing.T) {
	each(t, []string{"git"}, func(s *stage) {
		if err := s.LaySSH(s.who); err != nil {
			s.t.Fatal(err)
		}
		home := s.who.Home()
		s.ok(s.run("-a git.test:22", "git", "clone", "-q", "git@git.test:repo.git", home+"/by-ssh"), "")
		s.ok(s.run("-a git.test", "git", "clone", "-q", "https://git.test/repo.git", home+"/by-https"), "")
		s.ok(s.Machine.Run(s.t, internet.Root, "cmp", home+"/by-ssh/"+internet.GitFile, home+"/by-https/"+internet.GitFile), "")
		s.wantLines(1, "tcp git.test:22 allowed", "tcp git.test:22 ended")
		if r := s.run("-a git.test", "git", "clone", "-q", "git@git.test:repo.git", home+"/refused"); r.Status == 0 {
			s.t.Errorf("port 22 wasn't named, and the clone went through: %v", r)
		}
		s.wantLines(1, "tcp git.test:22 refused")
	})
}

func TestDatabase(t *testing.T) {
	each(t, []string{"db"}, func(s *stage) {
		s.ok(s.run("-a db.test:5432", "psql", "-h", "db.test", "-U", "ada", "-Atc", "select 6*7", "postgres"), "42")
		verified := "host=db.test user=ada dbname=postgres sslmode=verify-full sslrootcert=" + internet.CAFile
		s.ok(s.run("-a db.test:5432", "psql", verified, "-Atc", "select 'in TLS' from pg_stat_ssl where pid = pg_backend_pid() and ssl"), "in TLS")
		s.wantLines(0, "unknown", "connect")
		if n := s.count("tcp db.test:5432 allowed"); n < 2 {
			s.t.Errorf("%d lines say that the database was called, want 2 at least", n)
		}
	})
}
