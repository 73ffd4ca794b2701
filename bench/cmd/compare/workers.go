package main

import (
	"fmt"
	"slices"
	"strings"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/results"
)

// times are seconds of CPU time, by worker.
type times []float64

func (t times) since(before times) times {
	all := slices.Clone(t)
	for w := range all {
		all[w] -= before[w]
	}
	return all
}

func (t times) sum() (sum float64) {
	for _, s := range t {
		sum += s
	}
	return sum
}

// between returns the middle of both, for each worker.
func between(a, b times) times {
	all := slices.Clone(a)
	for w := range all {
		all[w] += (b[w] - a[w]) / 2
	}
	return all
}

// shared tells what two workers did with a port that the first one receives from for both, in
// packets per second of the CPU time of the worker that is named.
type shared struct {
	kept   float64 // by the first, which forwarded them
	handed float64 // by the first to the second; what found the ring full counts
	took   float64 // by the second, which forwarded them: of the time in which it had packets
	full   float64 // part of what was handed over that found the ring full
}

// ratesOf returns the sum of the rates of two workers. Each had a CPU time of its own: where the
// second one had less, it forwarded less than the first one handed over. With as much it forwards
// what it can, and never more than is handed over.
func ratesOf(d *dut.Counters, ran times, software bool) (sum float64, s *shared) {
	if !software {
		return d.Worked[0]/ran[0] + d.Worked[1]/ran[1], nil
	}
	handed := d.Worked[1] + d.RingFull
	s = &shared{kept: d.Worked[0] / ran[0], handed: handed / ran[0], full: d.RingFull / max(1, handed)}
	s.took = d.Worked[1] / min(ran[1], d.Busy[1]) // its ring is empty while the first has no CPU
	return s.kept + min(s.took, s.handed), s
}

// scaling tells how many times the rate of one worker two have, by queues of the port and in
// software, and which of two workers the limit is in software.
func scaling(rows []*row, s *session) string {
	var b strings.Builder
	one := named(rows, referenceName)
	if one == nil {
		return ""
	}
	for _, of := range []struct{ name, what string }{{"workers2", "two workers to one"}, {softwareName, "two workers on one queue, in software, to one"}} {
		two := named(rows, of.name)
		if two == nil {
			continue
		}
		fmt.Fprintf(&b, "%s: %v", of.what, results.SpreadOf(two.each(one, rate, quotient)))
		if of.name == "workers2" {
			fmt.Fprintf(&b, "; testpmd io: %v", results.SpreadOf(two.base.each(one.base, rate, quotient)))
		}
		b.WriteString(two.limit())
		if s.lcores[1] == s.Control {
			b.WriteString("; the second one shares its CPU, and its caches, with everything else")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// limit tells what the first worker hands over and the second one takes; empty where each receives
// by itself.
func (r *row) limit() string {
	if len(r.runs) == 0 || r.runs[0].software == nil {
		return ""
	}
	median := func(f func(s *shared) float64) float64 {
		return results.SpreadOf(r.values(func(o *outcome) float64 { return f(o.software) })).Median
	}
	handed, took := median(func(s *shared) float64 { return s.handed }), median(func(s *shared) float64 { return s.took })
	which := "the second is the limit"
	if took > handed {
		which = "the first, which receives, is the limit"
	}
	return fmt.Sprintf("; in its CPU time the first keeps %.2f Mpps and hands %.2f Mpps over (%.0f %% found the ring full), the second takes %.2f Mpps in its own: %s",
		median(func(s *shared) float64 { return s.kept })/1e6, handed/1e6, 100*median(func(s *shared) float64 { return s.full }), took/1e6, which)
}
