package netns

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A file below /proc/sys/net is that of the network namespace of whoever opens it (proc_sys(5)), and its owner may write
// it. Some containers show /proc/sys read-only; nothing that a room promises hangs on one of these, so what can't be
// written stays as it was.

// settle sets what a new network namespace takes over from the machine, or from the kernel's defaults, and a room needs
// otherwise. It runs before there are links, which take their settings from default.
func settle(ipv6 bool) {
	set("ipv4/ip_forward", "0")     // a container host has it on
	set("ipv4/tcp_timestamps", "2") // see below
	if !ipv6 {
		set("ipv6/conf/all/disable_ipv6", "1")
		set("ipv6/conf/default/disable_ipv6", "1")
		return
	}
	set("ipv6/conf/all/disable_ipv6", "0")
	set("ipv6/conf/default/disable_ipv6", "0")
	set("ipv6/conf/all/forwarding", "0")
	set("ipv6/conf/default/accept_ra", "0")
	set("ipv6/conf/default/addr_gen_mode", "1") // no link-local address: nobody is on the link
}

// Every connection ends at one address and port, whatever its destination was. A source port that was used for one
// destination and is used for another finds the wire's end of the last connection waiting (TIME_WAIT, 60 s), and the kernel
// takes the new one for a stray of the old unless its timestamp is later. By default each pair of addresses counts from a
// time of its own, so one in four would be answered after a second; with 2 they all count from the same.

// settleTracking is for conntrack, whose settings are there once a rule uses it. A packet that it takes for out of window
// would lose its new destination, and with it the connection; both ends are in this kernel, so none is forged. The state
// that it keeps of a closed connection holds on to a source port.
func settleTracking() {
	set("netfilter/nf_conntrack_tcp_be_liberal", "1")
	set("netfilter/nf_conntrack_tcp_timeout_time_wait", "5")
}

// permit gives the program what it has outside: ping sockets (its echo is answered with "filtered", which says more than
// "not permitted"), and the ports that it may bind.
func permit(id Identity, ports string) {
	set("ipv4/ping_group_range", strconv.Itoa(id.GID)+" "+strconv.Itoa(id.GID))
	if id.UID == 0 {
		ports = "0" // root may bind any port, here without CAP_NET_BIND_SERVICE
	}
	if ports != "" {
		set("ipv4/ip_unprivileged_port_start", ports)
	}
}

// set writes a setting of the room's network, if there is such a one.
func set(name, value string) {
	fd, err := unix.Open("/proc/sys/net/"+name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	unix.Write(fd, []byte(value))
	unix.Close(fd)
}

// families says which address families the machine has; the launcher looks, and hands it to init as an argument.
type families string

const (
	ipv4Only families = "ipv4"
	ipv4And6 families = "ipv4,ipv6"
)

// machineFamilies looks in the caller's network namespace. Without IPv6 in the kernel the file isn't there. A new network
// namespace has IPv6 on even where the machine's was switched off, so init can't see it for itself.
func machineFamilies() string {
	if setting("net/ipv6/conf/all/disable_ipv6") == "0" && setting("net/ipv6/conf/lo/disable_ipv6") == "0" {
		return string(ipv4And6)
	}
	return string(ipv4Only)
}

func parseFamilies(s string) (ipv6 bool, err error) {
	if s != string(ipv4Only) && s != string(ipv4And6) {
		return false, fmt.Errorf("unknown address families %q", s)
	}
	return strings.Contains(s, "ipv6"), nil
}
