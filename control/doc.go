// Package control stops and pauses the wire: the gate that each proxy looks at, the watch that pauses a sandbox by
// itself, and what runs with the kill switch.
//
// It is still being laid out; the signatures stand.
package control
