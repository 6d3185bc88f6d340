package integration

import (
	"fmt"
	"os"
	"testing"

	"lnk/integration/internet"
)

func TestMain(m *testing.M) {
	internet.Enter(
		internet.Tool{Name: "lnk", Package: "lnk/cmd/lnk"},
		internet.Tool{Name: "world-client", Package: "lnk/integration/client"},
	)
	if _, err := internet.Open(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
