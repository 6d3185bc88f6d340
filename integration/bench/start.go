package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"lnk/integration/internet"
)

// startOf is a contender that runs a command to its end.
func startOf(name string, who internet.User, args ...string) contender {
	c := contender{name: name, turn: func(ctx context.Context) (sample, error) {
		cmd := machine.Command(ctx, who, args...)
		var said output
		cmd.Stderr = &said
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return sample{}, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, said.String())
		}
		return sample{P50: time.Since(start).Seconds()}, nil
	}}
	if !installed(args[0]) {
		c.absent = errAbsent
	}
	return c
}

// layHomes makes the homes of those who run lnk here.
func layHomes() error {
	for _, u := range []internet.User{internet.Root, internet.Rootless} {
		if err := os.MkdirAll(u.Home(), 0o700); err != nil {
			return fmt.Errorf("making the home of %s: %w", u, err)
		}
		if err := os.Chown(u.Home(), u.UID(), u.UID()); err != nil {
			return fmt.Errorf("making the home of %s: %w", u, err)
		}
	}
	return nil
}
