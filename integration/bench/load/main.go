// Command load is both ends of a benchmark: the servers, and the clients that call them.
//
//	load serve SERVER RESOLVER                 the servers, at one address, and a DNS server at another
//	load stream down|up -for TIME HOST:PORT    one connection, as fast as it goes
//	load connect -parallel N -for TIME HOST:PORT
//	load http -parallel N -for TIME [-proxy ADDRESS:PORT] HOST:PORT
//	load dns [-fresh] -for TIME RESOLVER:PORT NAME
//	load hold HOST:PORT COUNT…                 opens that many connections, and waits for a line of input after each count
//	load last HOST:PORT COUNT                  opens that many connections, and tells when the last of them was ended
//
// A client prints a Result as a line of JSON. What it calls by name it looks up once, before the clock runs.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// Result is what a client measured.
type Result struct {
	Rate   float64 // octets, connections, requests or lookups in a second
	P50    float64 // seconds from the beginning of one to its end; 0 where there is no such thing
	P99    float64
	Failed int // those that failed; they don't count in the rest
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: load serve|stream|connect|http|dns|hold|last …")
	}
	commands := map[string]func([]string) error{
		"serve": serve, "hold": hold, "last": last,
		"stream": measured(stream), "connect": measured(connect), "http": measured(request), "dns": measured(lookUp),
	}
	command := commands[args[0]]
	if command == nil {
		return fmt.Errorf("no such command: %s", args[0])
	}
	return command(args[1:])
}

// measured is a command that prints its result.
func measured(client func([]string) (Result, error)) func([]string) error {
	return func(args []string) error {
		r, err := client(args)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(r)
	}
}
