package wirelog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"lnk/settings"
)

// trafficEvery is how often a proxy's counts are written while they change.
const trafficEvery = 5 * time.Second

// Traffic counts what one proxy carries. It is safe for use from many goroutines; to add costs two atomic additions.
type Traffic struct {
	home    settings.Home
	sandbox settings.Name
	every   time.Duration
	out, in atomic.Int64
}

// TrafficRecord is what one running proxy carried.
type TrafficRecord struct {
	settings.Process               // the proxy
	Sandbox          settings.Name `json:"sandbox"`
	Since            time.Time     `json:"since"` // when it began to count
	Out              int64         `json:"out"`   // bytes from the sandbox, a refused call's request among them
	In               int64         `json:"in"`    // bytes to the sandbox
}

// NewTraffic counts for the proxy of the sandbox called sandbox, from zero.
func NewTraffic(home settings.Home, sandbox settings.Name) *Traffic {
	return &Traffic{home: home, sandbox: sandbox, every: trafficEvery}
}

// Add counts bytes from the sandbox (a refused call's request among them) and bytes to it.
func (t *Traffic) Add(out, in int64) {
	if out > 0 {
		t.out.Add(out)
	}
	if in > 0 {
		t.in.Add(in)
	}
}

// Totals is what was counted.
func (t *Traffic) Totals() (out, in int64) { return t.out.Load(), t.in.Load() }

// Run writes the counts to the proxy's file at once and then every 5 seconds while they change, until ctx ends; then it
// removes the file. What can't be written is written the next time; the error says what couldn't be at the last time.
func (t *Traffic) Run(ctx context.Context) error {
	self, err := settings.Self()
	if err != nil {
		return fmt.Errorf("writing the traffic: %w", err)
	}
	path := t.home.Traffic(self.PID)
	r := TrafficRecord{Process: self, Sandbox: t.sandbox, Since: time.Now().UTC().Truncate(time.Second)}
	r.Out, r.In = t.Totals()
	failed := writeTraffic(path, r)
	tick := time.NewTicker(t.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = errors.Join(failed, fmt.Errorf("removing the traffic: %w", err))
			}
			return failed
		case <-tick.C:
		}
		out, in := t.Totals()
		if failed != nil || out != r.Out || in != r.In || missing(path) {
			r.Out, r.In = out, in
			failed = writeTraffic(path, r)
		}
	}
}

func writeTraffic(path string, r TrafficRecord) error {
	data, err := json.Marshal(r)
	if err == nil {
		err = settings.WriteFile(path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing the traffic: %w", err)
	}
	return nil
}

// missing reports whether somebody took the file away, such as a reader in another pid namespace who knows no such
// process.
func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
