package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by the linker: -X main.release=1.2.3.
var release string

func (a *app) version() *cobra.Command {
	return a.command("version", helpVersion, 0, 0, func(*cobra.Command, []string) error {
		a.printf("%s", versionLine())
		return nil
	})
}

func versionLine() string {
	return fmt.Sprintf("lnk %s (%s, %s/%s)\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionText is the release, or else what the build knows of its source.
func versionText() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "development " + s.Value[:12]
		}
	}
	return "development"
}
