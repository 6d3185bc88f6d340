package netns

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// shortenHostname takes the domain off the room's host name, where it has one. Without a search list in resolv.conf, glibc searches the host
// name's domain (resolv.conf(5)): each single-label name would be asked about a second time, below the machine's domain.
func shortenHostname() error {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return fmt.Errorf("reading the host name: %w", err)
	}
	short, _, hasDomain := strings.Cut(unix.ByteSliceToString(u.Nodename[:]), ".")
	if !hasDomain {
		return nil
	}
	if err := unix.Sethostname([]byte(short)); err != nil {
		return fmt.Errorf("shortening the host name: %w", err)
	}
	return nil
}
