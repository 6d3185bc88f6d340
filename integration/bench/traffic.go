package main

import (
	"context"
	"errors"
	"net/netip"
	"strconv"

	"lnk/integration/internet"
	"lnk/policy"
)

// The servers' ports, as package load has them.
const (
	portHTTP    = 80
	portDown    = 5001
	portUp      = 5002
	portConnect = 5003
	portHold    = 5004
)

// lay lays the internet and starts its servers.
func (b *bench) lay(ctx context.Context) (err error) {
	if err := layHomes(); err != nil {
		return err
	}
	if b.internet, err = layInternet(); err != nil {
		return err
	}
	_, err = startDaemon(ctx, b.internet, accepts(nil, serverPort(portHold)), "load", "serve", serverAddr.String(), resolverAddr.String())
	return err
}

// turn is a contender that runs a client in a place.
func (b *bench) turn(p place, args func(place) []string) contender {
	return contender{p.name, p.absent, func(ctx context.Context) (sample, error) { return p.load(ctx, args(p)...) }}
}

func (b *bench) turns(args func(place) []string, places ...place) (all []contender) {
	for _, p := range places {
		all = append(all, b.turn(p, args))
	}
	return all
}

// relays are the places that a raw TCP connection is measured in.
func (b *bench) relays(ctx context.Context) []place {
	return []place{direct(), inSandbox("bench"), b.haproxy(ctx), inPasta()}
}

// haproxy is started once for all measures of raw connections.
func (b *bench) haproxy(ctx context.Context) place {
	if b.relay == nil {
		p := inHaproxy(ctx, "haproxy", "tcp", "option splice-auto")
		b.relay = &p
	}
	return *b.relay
}

func (b *bench) streams(ctx context.Context) error {
	var failed error
	for _, way := range []struct {
		arg, title string
		port       uint16
	}{{"down", "One stream, download", portDown}, {"up", "One stream, upload", portUp}} {
		m := &measure{
			title: way.title, rounds: b.rounds, figure: rate, show: showStream, base: "direct",
			goals: []goal{ratioTo("direct", "≥ 0.55"), ratioTo("haproxy", "≥ 0.95")},
			contenders: b.turns(func(p place) []string {
				return []string{"stream", way.arg, "-for", b.length.String(), p.target(way.port)}
			}, b.relays(ctx)...),
		}
		_, err := m.run(ctx)
		failed = errors.Join(failed, err)
	}
	return failed
}

func (b *bench) connections(ctx context.Context) error {
	many := ratioTo("haproxy", "≥ 0.80")
	adding := goal{"lnk adds at p50", "direct", func(r round, _ *measure) float64 {
		return (r["lnk"].P50 - r["direct"].P50) * 1e6
	}, "%.0f µs", "≤ 200 µs"}
	var failed error
	for _, c := range []struct {
		title    string
		parallel int
		goal     goal
	}{{"New connections, one at a time", 1, adding}, {"New connections, 32 at a time", 32, many}} {
		m := &measure{
			title: c.title, rounds: b.rounds, figure: rate, show: showRateAndTimes("conn"), base: "direct", goals: []goal{c.goal},
			contenders: b.turns(func(p place) []string {
				return []string{"connect", "-parallel", strconv.Itoa(c.parallel), "-for", b.length.String(), p.target(portConnect)}
			}, b.relays(ctx)...),
		}
		rounds, err := m.run(ctx)
		if failed = errors.Join(failed, err); err == nil {
			b.perCall = 1 / medianSample(rounds, "lnk").Rate
		}
	}
	return failed
}

func (b *bench) requests(ctx context.Context) error {
	args := func(p place, proxy ...string) []string {
		all := append([]string{"http", "-parallel", "32", "-for", b.length.String()}, proxy...)
		return append(all, p.target(portHTTP))
	}
	m := &measure{
		title: "HTTP requests on 32 kept connections", rounds: b.rounds, figure: rate, show: showRateAndTimes("req"), base: "direct",
		goals: []goal{ratioTo("squid", "> 1.00"), ratioTo("tinyproxy", "≥ 2.00")},
		contenders: b.turns(func(p place) []string { return args(p) },
			direct(), inSandbox("bench"), inHaproxy(ctx, "haproxy, http", "http", "")),
	}
	for _, e := range explicits {
		at, err := e.start(ctx)
		p := direct()
		p.name, p.absent = e.name, err
		m.contenders = append(m.contenders, b.turn(p, func(p place) []string { return args(p, "-proxy", at.String()) }))
	}
	_, err := m.run(ctx)
	return err
}

func (b *bench) lookups(ctx context.Context) error {
	at, absent := startDnsmasq(ctx)
	servers := map[string]netip.AddrPort{
		"direct": netip.AddrPortFrom(resolverAddr, 53), "lnk": netip.AddrPortFrom(policy.NameServer, 53), "dnsmasq": at,
	}
	between := direct()
	between.name, between.absent = "dnsmasq", absent
	var failed error
	for _, c := range []struct {
		title string
		flags []string
	}{{"Lookups of the same 100 names (cached)", nil}, {"Lookups of fresh names (uncached)", []string{"-fresh"}}} {
		m := &measure{
			title: c.title, rounds: b.rounds, figure: rate, show: showRateAndTimes("lookup"), base: "direct",
			goals: []goal{ratioTo("dnsmasq", "≥ 1.00")},
			contenders: b.turns(func(p place) []string {
				return append(append([]string{"dns", "-for", b.length.String()}, c.flags...), servers[p.name].String(), serverName)
			}, direct(), inSandbox("bench"), between),
		}
		_, err := m.run(ctx)
		failed = errors.Join(failed, err)
	}
	return failed
}

// starting measures how long it takes to run a program that does nothing.
func (b *bench) starting(ctx context.Context) error {
	var failed error
	for _, who := range []internet.User{internet.Root, internet.Rootless} {
		m := &measure{
			title: "Starting true, as " + string(who), rounds: b.starts, figure: middle, show: showTime, base: "bubblewrap",
			goals: []goal{ratioTo("bubblewrap", "≤ 3.5")},
			contenders: []contender{
				startOf("direct", who, "true"),
				startOf("lnk", who, "lnk", "sandbox", "run", "-q", "--", "true"),
				startOf("bubblewrap", who, "bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"),
			},
		}
		_, err := m.run(ctx)
		failed = errors.Join(failed, err)
	}
	return failed
}
