package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Home is a settings folder. The zero value is no folder: every method that touches the disk returns an error.
type Home struct{ dir string }

// At returns the settings folder at dir, an absolute path.
func At(dir string) (Home, error) {
	if !filepath.IsAbs(dir) {
		return Home{}, fmt.Errorf("settings folder %q: not an absolute path", dir)
	}
	return Home{filepath.Clean(dir)}, nil
}

// Locate returns the settings folder of a user whose home folder is userHome: lnkHome (the value of $LNK_HOME) where
// it is set, otherwise userHome/.lnk.
func Locate(lnkHome, userHome string) (Home, error) {
	if lnkHome != "" {
		return At(lnkHome)
	}
	if userHome == "" {
		return Home{}, fmt.Errorf("settings folder: neither LNK_HOME nor a home folder is known")
	}
	return At(filepath.Join(userHome, ".lnk"))
}

// Dir is the folder's own path; empty for the zero value.
func (h Home) Dir() string { return h.dir }

// Log is the wire's log; the rotated ones are Log + ".1" to ".4".
func (h Home) Log() string { return h.sandbox("wire.log") }

// Stopped is the kill switch: while a file of any kind is there, nothing may be called.
func (h Home) Stopped() string { return h.sandbox("stopped") }

// Paused is the pause of the sandbox called name.
func (h Home) Paused(name Name) string { return h.sandbox("paused", string(name)) }

// Traffic is what the proxy with that pid carried.
func (h Home) Traffic(pid int) string { return h.sandbox("traffic", strconv.Itoa(pid)+".json") }

// Run is the record of the running sandbox called name.
func (h Home) Run(name Name) string { return h.sandbox("runs", string(name)+".json") }

// OnStop is what the registrant called name wants run on a stop.
func (h Home) OnStop(name Name) string { return h.sandbox("on-stop", string(name)+".json") }

// Spec is the spec called name.
func (h Home) Spec(name Name) string { return h.sandbox("specs", string(name)+".toml") }

// Agent is the folder of the agent called name: its record and its output.
func (h Home) Agent(name Name) string { return filepath.Join(h.dir, "agent", string(name)) }

// Folders that hold one file for each name.
func (h Home) PausedFolder() string  { return h.sandbox("paused") }
func (h Home) TrafficFolder() string { return h.sandbox("traffic") }
func (h Home) RunsFolder() string    { return h.sandbox("runs") }
func (h Home) OnStopFolder() string  { return h.sandbox("on-stop") }
func (h Home) SpecsFolder() string   { return h.sandbox("specs") }
func (h Home) AgentFolder() string   { return filepath.Join(h.dir, "agent") }

func (h Home) sandbox(parts ...string) string {
	return filepath.Join(append([]string{h.dir, "sandbox"}, parts...)...)
}

// Ensure makes the folders that are missing, mode 700, and fails where one can't be made or is open to others.
func (h Home) Ensure() error {
	if h.dir == "" {
		return fmt.Errorf("settings folder: none is set")
	}
	for _, dir := range []string{h.dir, h.sandbox(), h.PausedFolder(), h.TrafficFolder(), h.RunsFolder(), h.OnStopFolder(), h.SpecsFolder(), h.AgentFolder()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making the settings folder: %w", err)
		}
	}
	return nil
}
