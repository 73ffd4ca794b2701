package main

import (
	"fmt"
	"time"

	"intsink/bench/internal/lab"
	"intsink/bench/internal/results"
)

// cause is a way to run intsink that takes one disturbance away, or brings it.
type cause struct {
	title     string
	env       []string
	meanwhile disturbance
}

var theCauses = []cause{
	{title: "as it is"},
	{title: "no garbage collection (GOGC=off)", env: []string{"GOGC=off"}},
	{title: "garbage collected 10 times a second", meanwhile: every(time.Second/10, collect)},
	{title: "no preemption by signals (asyncpreemptoff=1)", env: []string{"GODEBUG=asyncpreemptoff=1"}},
	{title: "a scrape every second", meanwhile: every(time.Second, get("/metrics"))},
	{title: "a page of the flow API every second", meanwhile: every(time.Second, get("/api/v1/flows?limit=1000&sort=packets"))},
	{title: "ten pages open in browsers, and a scrape every second", meanwhile: watched},
	{title: "a reload every second", meanwhile: every(time.Second, reload)},
}

// causes measures intsink at half load with each.
func (s *session) causes() (string, error) {
	p, err := lab.Pick("intsink")
	if err != nil {
		return "", err
	}
	cells := [][]string{{"intsink at 50 %", "times", "p50", "p99", "p99.9", "max", "lost", "gaps ≥100µs", "≥1ms", "yields/s", "page faults/s", "undisturbed"}}
	for _, c := range theCauses {
		p.Env, p.Profiles = c.env, true
		m, err := s.measure(p, 50, c.meanwhile)
		if err != nil {
			return "", fmt.Errorf("%s: %w", c.title, err)
		}
		cells = append(cells, m.causeLine(&c))
		fmt.Println(cells[len(cells)-1])
	}
	return results.Table(cells) + causesLegend, nil
}

func (m *measurement) causeLine(c *cause) []string {
	h := &m.Latency
	perSecond := func(n uint64) string { return fmt.Sprintf("%.1f", float64(n)/m.Seconds) }
	times := "-"
	if c.meanwhile != nil {
		times = fmt.Sprint(m.times)
	}
	return []string{
		c.title, times, micros(h.Quantile(0.5)), micros(h.Quantile(0.99)), micros(h.Quantile(0.999)), micros(h.Max()),
		fmt.Sprintf("%.4f %%", 100*float64(m.Lost())/float64(max(m.Offered, 1))),
		fmt.Sprintf("%.0f", m.counters.LongGaps[0]), fmt.Sprintf("%.0f", m.counters.LongGaps[1]),
		perSecond(m.thread.Voluntary), perSecond(m.thread.MinorFaults + m.thread.MajorFaults), m.kept(),
	}
}

const causesLegend = `
times: how often it happened. A page has a stream of events, and asks for status and flows every two seconds; a reload changes a threshold. On a machine
with two CPUs all that intsink does besides forwarding runs on the generator's: frames that the generator read late for that are left out, as above. yields: times that the worker's thread gave
its CPU back by itself.
`
