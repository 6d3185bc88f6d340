package netns

import (
	"errors"

	"golang.org/x/sys/unix"

	"lnk/nft"
)

// build makes the room's network, from nothing to sockets that were tried.
func build(ipv6 bool) ([]socket, error) {
	settle(ipv6)
	if err := shortenHostname(); err != nil {
		return nil, err
	}
	if err := makeLinks(ipv6); err != nil {
		return nil, err
	}
	ports := nft.Ports{Wire4: wirePort, DNS4: dnsPort}
	if ipv6 {
		ports.Wire6, ports.DNS6 = wirePort, dnsPort
	}
	if err := install(ports); err != nil {
		return nil, err
	}
	settleTracking()
	sockets, err := openSockets(ipv6)
	if err != nil {
		return nil, err
	}
	if err := try(sockets); err != nil {
		closeSockets(sockets)
		return nil, err
	}
	return sockets, nil
}

func install(ports nft.Ports) error { return lacking(nft.Install(ports)) }

// lacking tells a kernel without nf_tables, which doesn't know the netlink family or the subsystem, or without a part of
// it, which doesn't know a chain's type or an expression, from other errors.
func lacking(err error) error {
	for _, unknown := range []unix.Errno{unix.EPROTONOSUPPORT, unix.EINVAL, unix.EOPNOTSUPP, unix.ENOENT, unix.EAFNOSUPPORT} {
		if errors.Is(err, unknown) {
			return &RightError{"this kernel lacks a part of nf_tables that a sandbox needs",
				"sudo modprobe -a nf_tables nft_chain_nat nft_ct nft_fib_inet nft_nat nft_reject_inet", err}
		}
	}
	return err
}
