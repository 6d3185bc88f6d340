package main

import (
	"os"

	"lnk/netns"
)

func main() {
	netns.Init() // doesn't return where this process is a room's first
	os.Exit(run(os.Args[1:], process()))
}
