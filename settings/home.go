package settings

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// Home is a settings folder. The zero value is no folder: its paths lead nowhere, and every use of one is an error.
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
func (h Home) Log() string { return h.path("sandbox", "wire.log") }

// Stopped is the kill switch: while a file of any kind is there, nothing may be called.
func (h Home) Stopped() string { return h.path("sandbox", "stopped") }

// Paused is the pause of the sandbox called name: while a file of any kind is there, it may call nothing.
func (h Home) Paused(name Name) string { return h.named(h.PausedFolder(), name, "") }

// Traffic is what the proxy with that pid carried.
func (h Home) Traffic(pid int) string { return h.path("sandbox", "traffic", strconv.Itoa(pid)+".json") }

// Run is the record of the running sandbox called name.
func (h Home) Run(name Name) string { return h.named(h.RunsFolder(), name, ".json") }

// OnStop is what the registrant called name wants run on a stop.
func (h Home) OnStop(name Name) string { return h.named(h.OnStopFolder(), name, ".json") }

// Spec is the spec called name.
func (h Home) Spec(name Name) string { return h.named(h.SpecsFolder(), name, ".toml") }

// Agent is the folder of the agent called name: its record and its output.
func (h Home) Agent(name Name) string { return h.named(h.AgentFolder(), name, "") }

// PausedFolder holds the pauses.
func (h Home) PausedFolder() string { return h.path("sandbox", "paused") }

// TrafficFolder holds what each running proxy carried.
func (h Home) TrafficFolder() string { return h.path("sandbox", "traffic") }

// RunsFolder holds the records of the running sandboxes.
func (h Home) RunsFolder() string { return h.path("sandbox", "runs") }

// OnStopFolder holds what stops with the kill switch.
func (h Home) OnStopFolder() string { return h.path("sandbox", "on-stop") }

// SpecsFolder holds the specs.
func (h Home) SpecsFolder() string { return h.path("sandbox", "specs") }

// AgentFolder holds a folder for each agent.
func (h Home) AgentFolder() string { return h.path("agent") }

// nowhere is below a file that is no folder: to look there is ENOTDIR, which nobody takes for "not there" (ENOENT).
const nowhere = "/dev/null"

func (h Home) path(parts ...string) string {
	if h.dir == "" {
		return filepath.Join(append([]string{nowhere}, parts...)...)
	}
	return filepath.Join(append([]string{h.dir}, parts...)...)
}

// named is a file or folder called after a name. An invalid name could lead out of the folder, or name the folder
// itself.
func (h Home) named(folder string, name Name, suffix string) string {
	if !name.Valid() {
		return filepath.Join(nowhere, "invalid-name"+suffix)
	}
	return filepath.Join(folder, string(name)+suffix)
}
