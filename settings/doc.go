// Package settings knows where Link's settings are, whose they are, and which process a recorded pid means.
//
// Everything that lnk keeps lies under one folder, Home: $LNK_HOME, or ~/.lnk of the user whose settings they are. No
// sandbox reads or writes any of it. The package makes paths and folders, writes files whole or not at all, and
// identifies processes by pid, start time and boot id. It runs in the machine's namespaces only, and always as the
// settings' user: root becomes that user before it calls anything here.
package settings
