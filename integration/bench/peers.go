package main

import (
	"context"
	"fmt"
	"net/netip"

	"lnk/integration/internet"
	"lnk/nft"
)

// relayConf is haproxy in lnk's place: it accepts in the room, and dials from the machine to where the client was going.
const relayConf = `global
  maxconn 4000
defaults
  timeout connect 10s
  timeout client 60s
  timeout server 60s
listen wire
  mode %[1]s
  %[2]s
  bind %[3]s namespace %[4]s
  server upstream 0.0.0.0
`

// inHaproxy is in a room whose wire is haproxy.
func inHaproxy(ctx context.Context, name, mode, option string) place {
	p := place{name: name, who: internet.Root, host: serverAddr.String()}
	if !installed("haproxy") {
		p.absent = errAbsent
		return p
	}
	p.space, p.absent = layRoom("haproxy-" + mode)
	if p.absent != nil {
		return p
	}
	door := netip.AddrPortFrom(nft.Addr4, wirePort)
	conf, err := writeConf("haproxy-"+mode, fmt.Sprintf(relayConf, mode, option, door, p.space.name))
	if err == nil {
		_, err = startDaemon(ctx, nil, accepts(p.space, serverPort(portHold)), "haproxy", "-db", "-f", conf)
	}
	p.absent = err
	return p
}

// explicit is a proxy that a client has to be told of, at a port of the machine's.
type explicit struct {
	name string
	port uint16
	conf string
	args []string // the command; the configuration's path is added
}

var explicits = []explicit{
	{"squid", 3128, `http_port 127.0.0.1:3128
http_access allow all
cache deny all
access_log none
cache_log /dev/null
cache_store_log none
pid_filename none
shutdown_lifetime 0 seconds
netdb_filename none
`, []string{"squid", "-N", "-f"}},
	{"tinyproxy", 3129, `Port 3129
Listen 127.0.0.1
MaxClients 256
Timeout 60
LogLevel Critical
LogFile "/dev/null"
`, []string{"tinyproxy", "-d", "-c"}},
}

// start starts the proxy; its error says why it isn't there.
func (e explicit) start(ctx context.Context) (netip.AddrPort, error) {
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), e.port)
	conf, err := writeConf(e.name, e.conf)
	if err != nil {
		return at, err
	}
	_, err = startDaemon(ctx, nil, accepts(nil, at), append(e.args[:len(e.args):len(e.args)], conf)...)
	return at, err
}

// startDnsmasq starts dnsmasq on the machine, between it and the internet's resolver. Its cache keeps its usual size: the known names fit, and
// with a large one it spends its time on making room for fresh names.
func startDnsmasq(ctx context.Context) (netip.AddrPort, error) {
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 5353)
	_, err := startDaemon(ctx, nil, accepts(nil, at), "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
		"--server="+resolverAddr.String(), "--listen-address="+at.Addr().String(), fmt.Sprintf("--port=%d", at.Port()), "--bind-interfaces",
		"--dns-forward-max=2000", "--pid-file=", "--user=root", "--log-facility=/dev/null")
	return at, err
}
