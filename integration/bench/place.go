package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"

	"lnk/integration/internet"
)

// machine is where everything but the servers runs.
var machine internet.Machine

// sample is one turn of one contender, as the load's Result: rates in a second, times in seconds.
type sample struct {
	Rate, P50, P99 float64
	Failed         int
}

// place is where a client runs and so what is between it and the servers.
type place struct {
	name   string
	who    internet.User
	space  *space
	prefix []string // the command that runs the client; empty for none
	host   string   // what the client calls the servers
	absent error    // why there is no such place
}

// direct is the machine itself.
func direct() place {
	return place{name: "direct", who: internet.Root, host: serverAddr.String()}
}

// inSandbox is in a sandbox of lnk's. The client calls the servers by name, as a program does.
func inSandbox(name string) place {
	return place{name: "lnk", who: internet.Root, host: serverName, prefix: []string{
		"lnk", "sandbox", "run", "-q", "-n", name, "-a", serverName + ":*", "-a", "*." + serverName, "--",
	}}
}

// inPasta is in a namespace of pasta's. It stays root: on some machines nobody else may open /dev/net/tun.
func inPasta() place {
	p := place{name: "pasta", who: internet.Root, host: serverAddr.String(), prefix: []string{"pasta", "--runas", "0", "-q", "--config-net", "--"}}
	if !installed("pasta") {
		p.absent = errAbsent
	}
	return p
}

// target is a port of the servers', as the client calls it.
func (p place) target(port uint16) string { return fmt.Sprintf("%s:%d", p.host, port) }

// serverPort is a port of the servers'.
func serverPort(port uint16) netip.AddrPort { return netip.AddrPortFrom(serverAddr, port) }

// command is the load, run in this place.
func (p place) command(ctx context.Context, args ...string) *exec.Cmd {
	return machine.Command(ctx, p.who, append(append(p.prefix[:len(p.prefix):len(p.prefix)], "load"), args...)...)
}

// load runs a client to its end and gives what it measured.
func (p place) load(ctx context.Context, args ...string) (sample, error) {
	cmd := p.command(ctx, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := p.space.start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return sample{}, fmt.Errorf("%s: load %s: %w: %s", p.name, strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	var s sample
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		return sample{}, fmt.Errorf("%s: load %s: reading what it measured: %w", p.name, args[0], err)
	}
	return s, nil
}
