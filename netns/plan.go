package netns

import "os"

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
	// ResolvConf and Hosts are seen inside as /etc/resolv.conf and /etc/hosts; nil leaves the machine's.
	ResolvConf, Hosts []byte
	// Cover are files and folders that the program finds empty and read-only, wherever they can be reached. Each is an
	// absolute path that exists.
	Cover []string
	// Replace are files whose content is another inside. Each exists.
	Replace []File
	// Argv is the program and its arguments: the first is looked up in the PATH of Env, as execvp does.
	Argv []string
	// Env is the program's whole environment.
	Env []string
	// Dir is the program's working directory, by its path as seen inside; empty is the one that init was cloned in.
	Dir string
	// User is who the program runs as. In a user namespace it can only be the caller.
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
