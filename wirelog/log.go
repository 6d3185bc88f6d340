package wirelog

import (
	"time"

	"lnk/settings"
)

// Options are the settings of a Log.
type Options struct {
	Sandbox settings.Name    // whose calls; for records that name none
	Now     func() time.Time // nil: time.Now
	MaxSize int64            // bytes of one file; 0: 8 MB
	Keep    int              // how many rotated files; 0: 4, as everywhere but in tests
	Notice  func(string)     // told when the log can't be written and when it can again; may be nil
}

// Log writes one wire's calls. It is safe for use from many goroutines, and many processes may write the same file.
type Log struct{}

// Open opens the log at path, an absolute one, and makes it where it is missing; its folder must be there.
func Open(path string, o Options) (*Log, error) { panic("being written") }

// Write writes the record, or counts it as left out where the limits say so; that isn't an error. An error means that the
// log couldn't be written; the record is then counted as left out.
func (l *Log) Write(r Record) error { panic("being written") }

// Writable reports whether the last line could be written.
func (l *Log) Writable() bool { panic("being written") }

// Close writes what is still unsaid of what was left out, and closes the file. More calls of it do nothing.
func (l *Log) Close() error { panic("being written") }
