package main

import (
	"fmt"
	"strings"
)

// print prints the contenders' figures with their ratios, and then what lnk is to reach.
func (m *measure) print(rounds []round) {
	for _, c := range m.contenders {
		if c.absent != nil {
			reason, _, _ := strings.Cut(c.absent.Error(), "\n")
			fmt.Printf("  %-22s %s\n", c.name, reason)
			continue
		}
		own := having(rounds, c.name, m.base)
		s := medianSample(having(rounds, c.name), c.name)
		line := fmt.Sprintf("  %-22s %-44s", c.name, m.show(s))
		if len(own) > 0 {
			line += fmt.Sprintf(" %6.2f", medianOf(own, func(r round) float64 { return m.figure(r[c.name]) / m.figure(r[m.base]) }))
		}
		if s.Failed > 0 {
			line += fmt.Sprintf("   %d failed", s.Failed)
		}
		fmt.Println(strings.TrimRight(line, " "))
	}
	for _, g := range m.goals {
		if those := having(rounds, "lnk", g.needs); len(those) > 0 {
			value := medianOf(those, func(r round) float64 { return g.value(r, m) })
			printGoal(g.what, fmt.Sprintf(g.format, value), g.target)
		}
	}
}

func printGoal(what, value, target string) {
	fmt.Printf("  = %-30s %-34s target %s\n", what, value, target)
}

// How figures are shown.

func showStream(s sample) string { return fmt.Sprintf("%8.0f MB/s", s.Rate/1e6) }

func showRateAndTimes(unit string) func(sample) string {
	return func(s sample) string {
		return fmt.Sprintf("%8.0f %s/s  p50 %s p99 %s", s.Rate, unit, micros(s.P50), micros(s.P99))
	}
}

func showTime(s sample) string { return fmt.Sprintf("%8.1f ms", s.P50*1e3) }

func micros(seconds float64) string { return fmt.Sprintf("%.0f µs", seconds*1e6) }

func mebibytes(octets float64) string { return fmt.Sprintf("%.1f MiB", octets/(1<<20)) }

func kibibytes(octets float64) string { return fmt.Sprintf("%.1f KiB", octets/(1<<10)) }

func rate(s sample) float64   { return s.Rate }
func middle(s sample) float64 { return s.P50 }
