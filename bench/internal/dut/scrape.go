package dut

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Counters are sums of intsink's metrics, those with a direction to the host
// only, at one time or over an interval.
type Counters struct {
	Received, Forwarded, Dropped float64
	Worked                       [2]float64 // packets that worker w0 and w1 worked on
	INT, Malformed               float64
	Evictions                    float64
	Mallocs, CgoCalls            float64    // of the whole process
	Generation                   float64    // of the configuration: 1 at start, one more with each reload
	LongGaps                     [3]float64 // polls of any worker that were at least 100 us, 1 ms, 10 ms apart
	LongestGap                   float64    // seconds, of the last 15 to 30 seconds
}

// scrape reads GET /metrics.
func (p *Intsink) scrape() (Counters, time.Time, error) {
	at := time.Now()
	b, err := fetch(p.url + "/metrics")
	if err != nil {
		return Counters{}, at, err
	}
	at = at.Add(time.Since(at) / 2)
	c, err := parseCounters(bytes.NewReader(b))
	return c, at, err
}

// fields returns the metrics that c holds, and where: by name, or by name and last label.
func (c *Counters) fields() map[string]*float64 {
	return map[string]*float64{
		"intsink_received_packets_total":            &c.Received,
		"intsink_forwarded_packets_total":           &c.Forwarded,
		"intsink_dropped_packets_total":             &c.Dropped,
		`intsink_burst_size_sum worker="w0"`:        &c.Worked[0],
		`intsink_burst_size_sum worker="w1"`:        &c.Worked[1],
		"intsink_int_packets_total":                 &c.INT,
		"intsink_malformed_packets_total":           &c.Malformed,
		"intsink_flow_evictions_total":              &c.Evictions,
		"go_memstats_mallocs_total":                 &c.Mallocs,
		"go_cgo_calls_total":                        &c.CgoCalls,
		"intsink_config_generation":                 &c.Generation,
		`intsink_long_poll_gaps_total over="100µs"`: &c.LongGaps[0],
		`intsink_long_poll_gaps_total over="1ms"`:   &c.LongGaps[1],
		`intsink_long_poll_gaps_total over="10ms"`:  &c.LongGaps[2],
		"intsink_longest_poll_gap_seconds":          &c.LongestGap,
	}
}

// parseCounters sums the counters by name from Prometheus text.
func parseCounters(r io.Reader) (c Counters, err error) {
	fields := c.fields()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' || strings.Contains(line, `direction="to_network"`) {
			continue
		}
		name, labels, _ := strings.Cut(line[:at], "{")
		last := strings.TrimSuffix(labels[strings.LastIndexByte(labels, ',')+1:], "}")
		for _, key := range []string{name, name + " " + last} {
			if field := fields[key]; field != nil {
				n, err := strconv.ParseFloat(line[at+1:], 64)
				if err != nil {
					return c, fmt.Errorf("metric %q: %w", line, err)
				}
				*field += n
			}
		}
	}
	return c, lines.Err()
}

// Since returns the counts from b to c, with the LongestGap of c.
func (c Counters) Since(b Counters) Counters {
	longest, before := c.LongestGap, b.fields()
	for name, field := range c.fields() {
		*field -= *before[name]
	}
	c.LongestGap = longest
	return c
}

// Sum returns the counts of two intervals, with the longer LongestGap.
func (c Counters) Sum(o Counters) Counters {
	longest, other := max(c.LongestGap, o.LongestGap), o.fields()
	for name, field := range c.fields() {
		*field += *other[name]
	}
	c.LongestGap = longest
	return c
}

// Check fails when an interval's counters contradict each other, or INT was not
// found in exactly the frames that should carry it: all or none. To the packet: what a worker
// publishes is consistent.
func (c Counters) Check(allINT bool) error {
	wantINT := 0.0
	if allINT {
		wantINT = c.Received
	}
	switch {
	case c.Forwarded == 0:
		return fmt.Errorf("forwards nothing: %+v", c)
	case c.Received != c.Forwarded+c.Dropped:
		return fmt.Errorf("received is not forwarded + dropped: %+v", c)
	case c.INT != wantINT:
		return fmt.Errorf("INT in %.0f of %.0f packets: %+v", c.INT, c.Received, c)
	case c.Malformed != 0:
		return fmt.Errorf("malformed packets in a sound capture: %+v", c)
	}
	return nil
}
