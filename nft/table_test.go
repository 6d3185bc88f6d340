package nft

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "write the kernel's listing to testdata")

func TestKernelListsTheTableAsWritten(t *testing.T) {
	for file, p := range map[string]Ports{
		"table.golden":       ports,
		"no-ipv6.golden":     {Wire4: 1, DNS4: 53},
		"other-ports.golden": {Wire4: 11, Wire6: 12, DNS4: 13, DNS6: 14},
		"zero.golden":        {},
	} {
		t.Run(file, func(t *testing.T) {
			inside(t, func(t *testing.T) {
				must(t, Install(p))
				got := runNft(t, "list", "ruleset")
				path := "testdata/" + file
				if *update && os.Geteuid() == 0 {
					must(t, os.WriteFile(path, []byte(got), 0o644))
				}
				want, err := os.ReadFile(path)
				must(t, err)
				if got != string(want) {
					t.Errorf("the kernel lists\n%s\nand not\n%s", got, want)
				}
			})
		})
	}
}

func TestNftReadsItsOwnListing(t *testing.T) {
	inside(t, func(t *testing.T) {
		must(t, Install(ports))
		file := t.TempDir() + "/ruleset"
		must(t, os.WriteFile(file, []byte(runNft(t, "list", "ruleset")), 0o600))
		runNft(t, "--check", "-f", file)
	})
}

func TestAllOrNothing(t *testing.T) {
	inside(t, func(t *testing.T) {
		// A set called lnk-unrelated stays; a chain of the same name with another hook makes the batch fail at its first chain.
		runNft(t, "add table inet lnk; add chain inet lnk arrivals { type filter hook output priority 5; }")
		before := runNft(t, "list", "ruleset")
		if err := Install(ports); err == nil {
			t.Error("a table that clashes was accepted")
		}
		if after := runNft(t, "list", "ruleset"); after != before {
			t.Errorf("half a table is left:\n%s", after)
		}
	})
}

func TestWithoutTheRightNothingIsMade(t *testing.T) {
	inside(t, func(t *testing.T) {
		must(t, dropCapabilities())
		err := Install(ports)
		if !errors.Is(err, unix.EPERM) {
			t.Errorf("without CAP_NET_ADMIN: %v", err)
		}
		if err != nil && !strings.Contains(err.Error(), "inet lnk") && !strings.Contains(err.Error(), "nf_tables") {
			t.Errorf("the error doesn't say what was done: %v", err)
		}
	})
}

// dropCapabilities is for a process that ends with the test. Any thread may run Install, so all lose them; with cgo only
// this one can, which the test is locked to.
func dropCapabilities() error {
	return setCapabilities(0)
}
