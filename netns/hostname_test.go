package netns

import (
	"os"
	"testing"
)

func TestTheRoomsHostNameHasNoDomain(t *testing.T) {
	w := everyone[0]
	if os.Getenv(childEnv) != t.Name() {
		w.again(t, "unshare", "--uts", "sh", "-c", `echo agent7.corp.example >/proc/sys/kernel/hostname && exec "$0" "$@"`)
		return
	}
	if got := w.run(t, w.plan("uname -n")).succeed(t); got != "agent7\n" {
		t.Errorf("the host name inside is %q, want agent7", got)
	}
}
