// Package settings knows where Link's settings are, whose they are, and which process a recorded pid means.
//
// Everything that lnk keeps lies under one folder, Home: $LNK_HOME, or ~/.lnk of the user whose settings they are. No
// sandbox reads or writes any of it. The package makes paths and folders, writes files whole or not at all, reads them
// without following a link, and identifies processes by pid, start time and boot id.
//
// A path is made from a Home and a Name. Where one of them is not valid (a zero Home, a Name that nobody parsed), the
// path is one that can't exist and whose every use is an error other than "not there": a kill switch or a pause that is
// looked for at a wrong place must not be taken for absent.
//
// It runs in the machine's namespaces only, and always as the settings' user: root becomes that user before it calls
// anything here. It keeps no state; all of it is safe for use from many goroutines. It does not lock anything, and it
// does not know what the files hold.
package settings
