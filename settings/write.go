package settings

// WriteFile writes a file of mode 600 whole or not at all: a reader finds the old contents or the new ones. What is at
// path is replaced, never followed.
func WriteFile(path string, data []byte) error { panic("being written") }

// ReadFile reads a regular file of at most limit bytes and follows no link at path.
func ReadFile(path string, limit int64) ([]byte, error) { panic("being written") }
