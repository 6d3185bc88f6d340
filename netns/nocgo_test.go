//go:build !cgo

package netns

const withCgo = false
