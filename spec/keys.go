package spec

import (
	"fmt"
	"slices"
	"strings"
)

// kinds says of every section and key what it has to be.
var kinds = map[string]string{
	"network":           "a section",
	"network.mode":      "a text in quotes: endpoints, open, none or host",
	"network.endpoints": "a list of texts in quotes",
	"network.ports":     "a list of ports, numbers from 1 to 65535",
	"log":               "a section",
	"log.required":      "true or false",
	"limits":            "a section",
	"limits.calls":      "a whole number",
}

// unknownKey says that a key isn't known, and which are.
func unknownKey(key []string) error {
	section := ""
	if len(key) > 1 && kinds[key[0]] != "" {
		section = key[0]
	} else {
		key = key[:1]
	}
	known := strings.Join(knownIn(section), ", ")
	if section == "" {
		return fmt.Errorf("unknown section [%s]; there are %s", quoted(key[0]), known)
	}
	return fmt.Errorf("unknown key %s in [%s]; there are %s", quoted(strings.Join(key[1:], ".")), section, known)
}

// knownIn lists the keys of a section, or the sections.
func knownIn(section string) []string {
	var known []string
	for key := range kinds {
		in, name, nested := strings.Cut(key, ".")
		switch {
		case section == "" && !nested:
			known = append(known, "["+key+"]")
		case nested && in == section:
			known = append(known, name)
		}
	}
	slices.Sort(known)
	return known
}

// quoted writes a key of the file as it is where it's plain, so that an error can't carry anything else to a terminal.
func quoted(key string) string {
	if q := fmt.Sprintf("%.60q", key); q != `"`+key+`"` {
		return q
	}
	return key
}
