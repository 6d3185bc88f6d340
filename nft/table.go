package nft

import (
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// chain is a base chain and its rules. Its name is none of nft's words: `nft` couldn't read its own listing.
type chain struct {
	name     string
	kind     nftables.ChainType
	hook     *nftables.ChainHook
	priority *nftables.ChainPriority
	policy   nftables.ChainPolicy
	rules    []rule
}

type rule []expr.Any

func (ch chain) add(c *nftables.Conn, table *nftables.Table) {
	made := c.AddChain(&nftables.Chain{
		Name: ch.name, Table: table, Type: ch.kind, Hooknum: ch.hook, Priority: ch.priority, Policy: &ch.policy,
	})
	for _, r := range ch.rules {
		c.AddRule(&nftables.Rule{Table: table, Chain: made, Exprs: r})
	}
}

// chains is the whole table.
func chains(p Ports) []chain {
	return []chain{
		{"calls", nftables.ChainTypeNAT, nftables.ChainHookOutput, nftables.ChainPriorityNATDest, nftables.ChainPolicyAccept, calls(p)},
		{"others", nftables.ChainTypeFilter, nftables.ChainHookOutput, nftables.ChainPriorityFilter, nftables.ChainPolicyDrop, others()},
		{"arrivals", nftables.ChainTypeFilter, nftables.ChainHookInput, nftables.ChainPriorityFilter, nftables.ChainPolicyDrop, arrivals()},
		{"passing", nftables.ChainTypeFilter, nftables.ChainHookForward, nftables.ChainPriorityFilter, nftables.ChainPolicyDrop, nil},
	}
}

// calls sees the first packet of each flow. The order counts: DNS before what is the room's own.
func calls(p Ports) []rule {
	var rules []rule
	for _, f := range families(p) {
		if f.dns != 0 {
			rules = append(rules,
				join(f.family(), protocol(unix.IPPROTO_UDP), port(53), f.to(f.dns)),
				join(f.family(), protocol(unix.IPPROTO_TCP), port(53), f.to(f.dns)))
		}
	}
	rules = append(rules, join(local(), accept()))
	// A socket that is bound to lo has no route to the wire: it would send into nowhere and wait.
	rules = append(rules, join(protocol(unix.IPPROTO_TCP), byLoopback(expr.MetaKeyOIF), counter(), reset()))
	for _, f := range families(p) {
		if f.wire != 0 {
			rules = append(rules, join(f.family(), protocol(unix.IPPROTO_TCP), f.to(f.wire)))
		}
	}
	return rules
}

// others sees every packet that is sent, after calls has given it its destination.
func others() []rule {
	return []rule{
		join(established(), accept()), // first: all but the first packets of a flow go no further
		join(local(), accept()),
		join(icmp6(neighborSolicit), accept()),
		join(icmp6(neighborAdvert), accept()),
		join(icmp6(listenerReport), accept()),
		join(protocol(unix.IPPROTO_TCP), counter(), reset()),
		join(counter(), prohibited()),
	}
}

func arrivals() []rule {
	return []rule{
		join(byLoopback(expr.MetaKeyIIF), accept()),
		join(counter()),
	}
}

// addressing is what the rules of one address family need.
type addressing struct {
	nfproto   byte
	addr      netip.Addr
	wire, dns uint16
}

func families(p Ports) []addressing {
	return []addressing{
		{unix.NFPROTO_IPV4, Addr4, p.Wire4, p.DNS4},
		{unix.NFPROTO_IPV6, Addr6, p.Wire6, p.DNS6},
	}
}

func join(parts ...[]expr.Any) rule {
	var r rule
	for _, p := range parts {
		r = append(r, p...)
	}
	return r
}
