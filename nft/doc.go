// Package nft makes the one table of a room, `inet lnk`.
//
// Install is called once, by a room's init, in the room's own network namespace, before anything else runs there. It
// needs CAP_NET_ADMIN over that namespace and nothing else: no nft binary, no file.
package nft
