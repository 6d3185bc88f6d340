package sandbox

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"

	"lnk/settings"
)

// suffixLetters are those of a made-up name's end: none that is easily taken for another.
const suffixLetters = "abcdefghjkmnpqrstuvwxyz23456789"

// suffixLength is how many of them there are: with 31 letters, a million names for each program.
const suffixLength = 4

// madeUpName is the name of a run that was given none: its program's, and four random characters.
func madeUpName(argv0 string) (settings.Name, error) {
	name, err := settings.ParseName(programName(argv0, settings.MaxName-suffixLength-1) + "-" + randomLetters())
	if err != nil {
		return "", fmt.Errorf("naming the run: %w", err)
	}
	return name, nil
}

func randomLetters() string {
	var random [suffixLength]byte
	rand.Read(random[:]) // never fails (crypto/rand)
	for i, b := range random {
		random[i] = suffixLetters[int(b)%len(suffixLetters)]
	}
	return string(random[:])
}

// programName is a program's file name in the letters of a name, at most max of them; "run" where nothing is left.
func programName(argv0 string, max int) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return -1
	}, filepath.Base(argv0))
	name = strings.TrimLeft(name, "-_.")
	if len(name) > max {
		name = name[:max]
	}
	if name == "" {
		return "run"
	}
	return name
}
