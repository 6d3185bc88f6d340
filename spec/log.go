package spec

// logSection is [log]: how calls are written down.
type logSection struct {
	Required bool `toml:"required"` // refuse calls while the log can't be written
}

func (l logSection) apply(s Spec) Spec {
	s.log.required = l.Required
	return s
}
