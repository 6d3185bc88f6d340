package internet

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/miekg/dns"
)

// Unbound is where Unbound's server answers.
var Unbound = Addr4(54)

const unboundConf = `server:
  interface: %[1]s
  outgoing-interface: %[1]s
  access-control: 0.0.0.0/0 allow
  directory: "%[2]s"
  pidfile: ""
  chroot: ""
  username: ""
  use-syslog: no
  do-daemonize: no
  do-not-query-localhost: no
  module-config: "iterator"
  local-zone: "test." nodefault
forward-zone:
  name: "."
  forward-addr: %[3]s
remote-control:
  control-enable: no
`

// StartUnbound runs a real caching resolver at Unbound, which asks the scripted server, for this test.
func (w *World) StartUnbound(t testing.TB) {
	t.Helper()
	dir, err := folder("unbound", 0, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "unbound.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, unboundConf, Unbound, dir, resolver4), 0o644); err != nil {
		t.Fatal(err)
	}
	path, err := look("unbound")
	if err != nil {
		t.Fatal(err)
	}
	ready := func() error {
		q := new(dns.Msg).SetQuestion("allowed.test.", dns.TypeA)
		_, err := dns.Exchange(q, netip.AddrPortFrom(Unbound, 53).String())
		return err
	}
	d, err := w.net.start(0, 0, ready, path, "-d", "-c", conf)
	if err != nil {
		t.Fatal(err)
	}
	w.DNS.reset()
	t.Cleanup(d.stop)
}
