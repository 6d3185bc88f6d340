package nft

import "errors"

// Ports are the ports that the wire and the DNS server listen on, at 127.0.0.1 and ::1 of the room. A family whose port
// is 0 has no listener: what would have gone to it is rejected.
type Ports struct{ Wire4, Wire6, DNS4, DNS6 uint16 }

// Install makes the table in the network namespace of the calling thread, in one batch: all of it or nothing.
func Install(p Ports) error { return errors.New("making the table inet lnk: not written yet") }
