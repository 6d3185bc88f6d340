package sandbox

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// loginShell is the shell that the machine's user file gives a user (passwd(5), the seventh field); os/user leaves
// that field out. Empty where it isn't there.
func loginShell(uid int) string {
	f, err := os.Open("/etc/passwd")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) >= 7 && fields[2] == strconv.Itoa(uid) {
			return fields[6]
		}
	}
	return ""
}
