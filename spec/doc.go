// Package spec says what a run is asked to be: its network, its log, its limits.
//
// A Spec comes from a TOML file (Parse), or from nothing (Default), and flags are laid over it (With). It is immutable, and it is
// whole: a key that isn't known, an endpoint that isn't in normal form or a port out of range is an error that says where,
// and no Spec. The package opens no file and runs in any namespace.
package spec
