package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// contender is one of those that a measure compares.
type contender struct {
	name   string
	absent error // why it doesn't take part; nil where it does
	turn   func(context.Context) (sample, error)
}

// measure compares contenders.
type measure struct {
	title  string
	rounds int
	// figure is what is compared, show how it is shown.
	figure func(sample) float64
	show   func(sample) string
	base   string // whom the column of ratios compares with
	goals  []goal

	contenders []contender
}

// goal is what lnk is to reach: a figure made of one round's samples, and the target in words.
type goal struct {
	what   string
	needs  string // the contender beside lnk that it takes
	value  func(r round, m *measure) float64
	format string
	target string
}

// round is one turn of each contender, by name.
type round map[string]sample

// ratioTo is lnk's figure to another's.
func ratioTo(other, target string) goal {
	return goal{"lnk to " + other, other, func(r round, m *measure) float64 {
		return m.figure(r["lnk"]) / m.figure(r[other])
	}, "%.2f", target}
}

// run runs the rounds and prints the table. A contender that fails is left out of what follows; lnk's and the direct
// connection's failures are the bench's own.
func (m *measure) run(ctx context.Context) ([]round, error) {
	fmt.Printf("\n%s\n", m.title)
	var failed error
	rounds := make([]round, m.rounds)
	for i := range rounds {
		rounds[i] = round{}
		for j := range m.contenders {
			c := &m.contenders[j]
			if c.absent != nil {
				continue
			}
			s, err := c.turn(ctx)
			if err != nil {
				c.absent = err
				if c.name == "lnk" || c.name == "direct" {
					failed = errors.Join(failed, err)
				}
				continue
			}
			rounds[i][c.name] = s
		}
	}
	m.print(rounds)
	return rounds, failed
}

// having are the rounds in which all of the names took part.
func having(rounds []round, names ...string) (those []round) {
	for _, r := range rounds {
		all := true
		for _, name := range names {
			_, is := r[name]
			all = all && is
		}
		if all {
			those = append(those, r)
		}
	}
	return those
}

// medianOf is the median of a figure over rounds.
func medianOf(rounds []round, figure func(round) float64) float64 {
	values := make([]float64, len(rounds))
	for i, r := range rounds {
		values[i] = figure(r)
	}
	return median(values)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return (values[half-1] + values[half]) / 2
}

// medianSample is the median of each of a contender's figures; failures add up.
func medianSample(rounds []round, name string) sample {
	s := sample{
		Rate: medianOf(rounds, func(r round) float64 { return r[name].Rate }),
		P50:  medianOf(rounds, func(r round) float64 { return r[name].P50 }),
		P99:  medianOf(rounds, func(r round) float64 { return r[name].P99 }),
	}
	for _, r := range rounds {
		s.Failed += r[name].Failed
	}
	return s
}
