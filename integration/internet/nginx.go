package internet

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
)

// nginxConf is a plain and an https server behind socket files, with h2, and a record of one JSON line a request.
const nginxConf = `daemon off;
master_process off;
user root;
pid %[1]s/pid;
error_log stderr;
events {}
http {
  log_format record escape=json '{"Method":"$request_method","Host":"$http_host","Path":"$request_uri","Proto":"$server_protocol","SNI":"$ssl_server_name"}';
  access_log %[1]s/access.log record;
  client_body_temp_path %[1]s/body;
  proxy_temp_path %[1]s/proxy;
  fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi;
  scgi_temp_path %[1]s/scgi;
  default_type text/plain;
  server {
    listen unix:%[1]s/http.sock;
    root %[1]s/pages;
  }
  server {
    listen unix:%[1]s/https.sock ssl http2;
    ssl_certificate %[1]s/cert.pem;
    ssl_certificate_key %[1]s/key.pem;
    root %[1]s/pages;
  }
}
`

// NginxPage is what nginx answers to GET /.
const NginxPage = "hello from allowed.test, by nginx\n"

// startNginx serves name on ports 80 and 443 of the addresses with a real nginx.
func (w *World) startNginx(s *Server, name string, addrs ...netip.Addr) error {
	dir, err := folder("nginx", 0, 0o755)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "pages"), 0o755); err != nil {
		return err
	}
	for file, text := range map[string]string{
		"nginx.conf": fmt.Sprintf(nginxConf, dir), "pages/index.html": NginxPage, "access.log": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := w.Authority.write(name, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), 0); err != nil {
		return err
	}
	plain, secure := unixSocket(filepath.Join(dir, "http.sock")), unixSocket(filepath.Join(dir, "https.sock"))
	ready := func() error {
		c, err := secure()
		if err != nil {
			return err
		}
		return c.Close()
	}
	path, err := look("nginx")
	if err != nil {
		return err
	}
	if _, err := w.net.start(0, 0, ready, path, "-c", filepath.Join(dir, "nginx.conf"), "-e", "stderr"); err != nil {
		return err
	}
	w.nginxLog = filepath.Join(dir, "access.log")
	if err := s.front(80, plain, addrs...); err != nil {
		return err
	}
	return s.front(443, secure, addrs...)
}

// NginxRequests are the requests that nginx itself wrote down for this test.
func (w *World) NginxRequests() ([]Request, error) {
	f, err := os.Open(w.nginxLog)
	if err != nil {
		return nil, fmt.Errorf("reading nginx's record: %w", err)
	}
	defer f.Close()
	var requests []Request
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("reading nginx's record: %w", err)
		}
		requests = append(requests, r)
	}
	return requests, lines.Err()
}
