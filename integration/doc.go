// Package integration holds the tests of what lnk promises: real programs, in real sandboxes, on a small internet.
//
// Each test runs lnk as it is run: as root, under sudo, and by an ordinary user (each, in stage_test.go), always on the machine of
// package internet. What was refused is judged by the servers' own records; after each test the log must hold one
// outcome for each call and one end for each that was allowed, and the machine must be as it was before.
//
// Texts of commands that are to fail, each with its message, are scripts in testdata.
package integration
