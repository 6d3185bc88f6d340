package policy

import "fmt"

// Mode is a sandbox's kind of network. The zero value is ModeNone: no network.
type Mode uint8

// The modes of a network.
const (
	ModeNone      Mode = iota // nothing may be called
	ModeEndpoints             // what the endpoints name
	ModeOpen                  // all that is public, logged and watched
	ModeHost                  // the machine's own network, without a wire
)

var modeNames = [...]string{"none", "endpoints", "open", "host"}

// ParseMode reads a mode as a spec writes it.
func ParseMode(s string) (Mode, error) {
	for m, name := range modeNames {
		if s == name {
			return Mode(m), nil
		}
	}
	return ModeNone, fmt.Errorf("network mode %.40q: it is one of endpoints, open, none and host", s)
}

// String is the mode as a spec writes it.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("mode %d", uint8(m))
}
