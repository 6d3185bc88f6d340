//go:build cgo

package netns

const withCgo = true
