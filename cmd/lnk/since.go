package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Layouts of a time that a person writes, in the machine's time zone. The first two mean today.
var sinceLayouts = []string{"15:04", "15:04:05", time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05"}

// parseSince reads how long ago (10m, 2h30m, 3d), or when.
func parseSince(s string, now time.Time) (time.Time, error) {
	if ago, err := parseAgo(s); err == nil {
		return now.Add(-ago), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	for i, layout := range sinceLayouts {
		t, err := time.ParseInLocation(layout, s, now.Location())
		if err != nil {
			continue
		}
		if i < 2 {
			t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
		}
		return t, nil
	}
	return time.Time{}, fmt.Errorf("--since %.40q: it is how long ago (10m, 2h, 3d) or a time (15:04, 2026-11-30, 2026-11-30T15:04:05Z)", s)
}

// parseAgo reads a length of time, days among them. One below nothing would be a time to come.
func parseAgo(s string) (time.Duration, error) {
	days, rest, found := strings.Cut(s, "d")
	if !found {
		days, rest = "0", s
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, err
	}
	ago := time.Duration(n) * 24 * time.Hour
	if rest == "" && found {
		return ago, nil
	}
	more, err := time.ParseDuration(rest)
	if err == nil && more < 0 {
		err = strconv.ErrRange
	}
	return ago + more, err
}
