package wirelog

// Format is the record as a line, with its newline.
func Format(r Record) string { panic("being written") }

// Parse reads a line that Format made, with or without its newline, and nothing else.
func Parse(line string) (Record, error) { panic("being written") }
