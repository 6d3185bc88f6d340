// Package spec says what a run is asked to be: its network, its log, its limits.
//
// A Spec comes from a TOML file (Parse), or from nothing (Default), and a command line's flags are laid over it (With). It is
// immutable, and it is whole or not at all: a key that isn't known, a value of the wrong kind, an endpoint that isn't in normal
// form, a port out of range or keys that contradict each other are an error that says where and what to write.
//
// Each section of the file is a type of its own, in a file named for it, with the method apply, which checks what it holds and
// writes it into the Spec. To add one: write that type, and name it in document and in document.apply. A key is accepted only
// when something acts on it.
//
// The package opens no file, starts nothing and runs in any namespace. Values are safe for use from many goroutines.
package spec
