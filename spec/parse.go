package spec

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// document is a spec's file. The sections that it leaves out are nil.
type document struct {
	Network *networkSection `toml:"network"`
	Log     *logSection     `toml:"log"`
	Limits  *limitsSection  `toml:"limits"`
}

// Parse reads a spec. origin names it in errors: a file's path.
func Parse(data []byte, origin string) (Spec, error) {
	at := func(line int, err error) error { return fmt.Errorf("%s: %w", place(origin, line), err) }
	var d document
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&d)
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		return Spec{}, unknownKeys(unknown, at)
	}
	lines := linesOf(data)
	if err != nil {
		return Spec{}, at(explain(err, lines))
	}
	if err := lines.checkLetters(at); err != nil {
		return Spec{}, err
	}
	s, err := d.apply(Default())
	if wrong, ok := errors.AsType[*valueError](err); ok {
		return Spec{}, at(lines.of(wrong.key, wrong.index), wrong)
	}
	if err != nil {
		return Spec{}, at(0, err)
	}
	return s, nil
}

// apply lays the sections over a spec.
func (d document) apply(s Spec) (Spec, error) {
	var err error
	if d.Network != nil {
		if s, err = d.Network.apply(s); err != nil {
			return Spec{}, err
		}
	}
	if d.Log != nil {
		s = d.Log.apply(s)
	}
	if d.Limits != nil {
		if s, err = d.Limits.apply(s); err != nil {
			return Spec{}, err
		}
	}
	return s, nil
}

// valueError is a value of the right kind that can't be.
type valueError struct {
	key   string // "network.ports"
	index int    // of the entry of a list; -1: the value itself
	err   error
}

func (e *valueError) Error() string { return keyName(e.key) + ": " + e.err.Error() }
func (e *valueError) Unwrap() error { return e.err }

func wrong(key string, index int, err error) error { return &valueError{key, index, err} }

// unknownKeys names each key that isn't known, with its line.
func unknownKeys(unknown *toml.StrictMissingError, at func(int, error) error) error {
	var all []error
	for _, e := range unknown.Errors {
		line, _ := e.Position()
		all = append(all, at(line, unknownKey(e.Key())))
	}
	return errors.Join(all...)
}

// explain says at which line what is wrong that the decoder found, in the words of a spec and without the names of Go types.
func explain(err error, lines lines) (int, error) {
	bad, ok := errors.AsType[*toml.DecodeError](err)
	if !ok {
		return 0, err
	}
	line, _ := bad.Position()
	key := strings.Join(bad.Key(), ".")
	twice := strings.Contains(bad.Error(), " already ") // the one fault of a key itself, not of its value
	if want, known := kinds[key]; known && !twice {
		return max(line, lines.of(key, -1)), fmt.Errorf("%s: not %s", keyName(key), want) // of a nested list it knows no line
	}
	return line, fmt.Errorf("not TOML: %s", strings.TrimPrefix(bad.Error(), "toml: "))
}

// place is where an error lies; line 0 is no line in particular.
func place(origin string, line int) string {
	if origin == "" {
		origin = "spec"
	}
	if line == 0 {
		return origin
	}
	return fmt.Sprintf("%s:%d", origin, line)
}

// keyName writes a key as a person finds it in the file.
func keyName(key string) string {
	section, name, ok := strings.Cut(key, ".")
	if !ok {
		return fmt.Sprintf("[%s]", section)
	}
	return fmt.Sprintf("[%s] %s", section, name)
}
