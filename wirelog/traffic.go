package wirelog

import (
	"context"

	"lnk/settings"
)

// Traffic counts what one proxy carries. It is safe for use from many goroutines.
type Traffic struct{}

// NewTraffic counts for the proxy of the sandbox called sandbox, from zero.
func NewTraffic(home settings.Home, sandbox settings.Name) *Traffic { panic("being written") }

// Add counts bytes from the sandbox (a refused call's request among them) and bytes to it.
func (t *Traffic) Add(out, in int64) { panic("being written") }

// Totals is what was counted.
func (t *Traffic) Totals() (out, in int64) { panic("being written") }

// Run writes the counts to the proxy's file every 5 seconds while they change, until ctx ends, and then removes it.
func (t *Traffic) Run(ctx context.Context) error { panic("being written") }

// TrafficRecord is what one running proxy carried.
type TrafficRecord struct {
	settings.Process
	Sandbox settings.Name `json:"sandbox"`
	Out     int64         `json:"out"`
	In      int64         `json:"in"`
}

// ReadTraffic is what the running proxies carried. It removes the records of those that are gone; a record that can't be read
// is an error beside the others.
func ReadTraffic(home settings.Home) ([]TrafficRecord, []error) { panic("being written") }
