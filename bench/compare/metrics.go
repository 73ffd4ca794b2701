package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// counters are sums of intsink's metrics to the host, at one time or over an
// interval.
type counters struct {
	at        time.Time
	seconds   float64 // of the interval
	received  float64
	forwarded float64
	dropped   float64
	int       float64
	malformed float64
}

// scrape reads GET /metrics.
func (p *process) scrape() (counters, error) {
	at := time.Now()
	resp, err := http.Get(p.url + "/metrics")
	if err != nil {
		return counters{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return counters{}, fmt.Errorf("GET /metrics: %s", resp.Status)
	}
	c, err := parseCounters(resp.Body)
	c.at = at.Add(time.Since(at) / 2)
	return c, err
}

// parseCounters sums the counters by name from Prometheus text; of those with a
// direction, only what goes to the host.
func parseCounters(r io.Reader) (c counters, err error) {
	sums := map[string]*float64{
		"intsink_received_packets_total":  &c.received,
		"intsink_forwarded_packets_total": &c.forwarded,
		"intsink_dropped_packets_total":   &c.dropped,
		"intsink_int_packets_total":       &c.int,
		"intsink_malformed_packets_total": &c.malformed,
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		name, labels, _ := strings.Cut(line, "{")
		sum := sums[name]
		if sum == nil || strings.Contains(labels, `direction="to_network"`) {
			continue
		}
		n, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return c, fmt.Errorf("metric %q: %w", line, err)
		}
		*sum += n
	}
	return c, lines.Err()
}

// since is what was counted from b to c.
func (c counters) since(b counters) counters {
	return counters{
		seconds:   c.at.Sub(b.at).Seconds(),
		received:  c.received - b.received,
		forwarded: c.forwarded - b.forwarded,
		dropped:   c.dropped - b.dropped,
		int:       c.int - b.int,
		malformed: c.malformed - b.malformed,
	}
}

// check fails when an interval's counters contradict each other or the input. To
// the packet: what a worker publishes is consistent.
func (c counters) check(in input) error {
	wantINT := 0.0
	if in.stripped {
		wantINT = c.received
	}
	switch {
	case c.forwarded == 0:
		return fmt.Errorf("forwards nothing: %+v", c)
	case c.received != c.forwarded+c.dropped:
		return fmt.Errorf("received is not forwarded + dropped: %+v", c)
	case c.int != wantINT:
		return fmt.Errorf("INT in %.0f of %.0f packets: %+v", c.int, c.received, c)
	case c.malformed != 0:
		return fmt.Errorf("malformed packets in a sound capture: %+v", c)
	}
	return nil
}
