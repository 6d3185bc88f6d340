package netns

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Identity is who a process is. Groups are the supplementary ones.
type Identity struct {
	UID, GID int
	Groups   []int
}

// Options say how init is cloned.
type Options struct {
	// Stdin, Stdout and Stderr become the program's descriptors 0, 1 and 2 as they are; nil is closed.
	Stdin, Stdout, Stderr *os.File
	// Extra become descriptors 3 and on. The program inherits no others.
	Extra []*os.File
	// Rootless asks for a user namespace, which needs no right but that of making one. A caller who isn't root always
	// gets one.
	Rootless bool
}

// Plan is what a room holds and what runs in it.
type Plan struct {
	// Ports are this machine's ports: each gets listeners at 127.0.0.1 and ::1 of the room.
	Ports []uint16
	// ResolvConf and Hosts are seen inside as /etc/resolv.conf and /etc/hosts; nil leaves the machine's. Where the machine
	// has no such file none is made: a resolver without one asks 127.0.0.1, and is answered.
	ResolvConf, Hosts []byte
	// Cover are files and folders that the program finds empty and read-only, by whatever path of this mount namespace
	// they can be reached. Each is an absolute path that exists.
	Cover []string
	// Pin are folders that can't be renamed or removed inside, nor can those above them by way of them; the deepest first. Each is an absolute path
	// without links.
	Pin []string
	// Replace are files whose content is another inside, read-only. Each is an absolute path that exists.
	Replace []File
	// Argv is the program and its arguments: the first is looked up in the PATH of Env, as execvp does.
	Argv []string
	// Env is the program's whole environment.
	Env []string
	// Dir is the program's working directory, by its path as seen inside; empty is the one that init was cloned in.
	Dir string
	// User is who the program runs as. In a user namespace only the caller can be, and UID and GID are the caller's.
	User Identity
	// Capabilities are what the program keeps. Zero is none.
	Capabilities Capabilities
}

// File is a file's path and its content.
type File struct {
	Path string
	Data []byte
}

// Capabilities is a set of capabilities, bit n for capability number n of linux/capability.h.
type Capabilities uint64

// check refuses what can't be meant.
func (p *Plan) check() error {
	if len(p.Argv) == 0 || p.Argv[0] == "" {
		return errors.New("the plan names no program")
	}
	for _, list := range [][]string{p.Argv, p.Env, {p.Dir}} {
		if i := slices.IndexFunc(list, hasNUL); i >= 0 {
			return fmt.Errorf("%.40q holds a NUL", list[i])
		}
	}
	for _, path := range p.paths() {
		if !filepath.IsAbs(path) || hasNUL(path) {
			return fmt.Errorf("%q is not an absolute path", path)
		}
	}
	return checkPorts(p.Ports)
}

func (p *Plan) paths() []string {
	paths := slices.Concat(p.Cover, p.Pin)
	for _, f := range p.Replace {
		paths = append(paths, f.Path)
	}
	return paths
}

func checkPorts(ports []uint16) error {
	for i, port := range ports {
		switch {
		case port == 0:
			return errors.New("port 0 of this machine: there is no such port")
		case port == dnsPort:
			return errors.New("port 53 of this machine: port 53 is the name server's inside")
		case slices.Contains(ports[:i], port):
			return fmt.Errorf("port %d of this machine: named twice", port)
		}
	}
	return nil
}

func hasNUL(s string) bool { return strings.IndexByte(s, 0) >= 0 }

// furnish is the part of the plan that init needs for the mounts and for who it becomes.
func (p *Plan) furnish(userNS bool, extra int) goBody {
	body := goBody{
		User: p.User, UserNS: userNS, Capabilities: p.Capabilities, Cover: octets(p.Cover), Pin: octets(p.Pin), Extra: extra,
		FreePorts: setting("net/ipv4/ip_unprivileged_port_start"),
	}
	if p.ResolvConf != nil {
		body.Files = append(body.Files, newFile("/etc/resolv.conf", p.ResolvConf, true))
	}
	if p.Hosts != nil {
		body.Files = append(body.Files, newFile("/etc/hosts", p.Hosts, true))
	}
	for _, f := range p.Replace {
		body.Files = append(body.Files, newFile(f.Path, f.Data, false))
	}
	return body
}

func newFile(path string, data []byte, optional bool) fileBody {
	return fileBody{Path: []byte(path), Size: len(data), Optional: optional, Data: data}
}

// run is the part of the plan that is the program.
func (p *Plan) run(stdio [3]bool, extra int) runBody {
	return runBody{
		OwnGroup: !hasTerminal(), Argv: octets(p.Argv), Env: octets(p.Env), Dir: []byte(p.Dir),
		Stdio: stdio, Extra: extra, Capabilities: p.Capabilities,
	}
}
