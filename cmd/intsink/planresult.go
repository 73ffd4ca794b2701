package main

// plan is what a configuration makes of a capture; it is the JSON that plan prints.
type plan struct {
	Config  string  `json:"config"`
	Capture string  `json:"capture"`
	Seconds float64 `json:"seconds"` // first packet to last
	Packets struct {
		Received uint64 `json:"received"`
		INT      uint64 `json:"int"`
	} `json:"packets"`
	Flows struct {
		Watched uint64 `json:"watched"`
		Peak    uint64 `json:"peak"` // in the table, watched or not, at the end of a second
		Evicted uint64 `json:"evicted"`
	} `json:"flows"`
	Events     []planEvent     `json:"events"` // those that occurred
	Collectors []planCollector `json:"collectors"`
	Against    *plan           `json:"against,omitempty"`
}

// rate is a count, per second.
type rate struct {
	Total uint64  `json:"total"`
	Mean  float64 `json:"mean_per_second"`
	Peak  uint64  `json:"peak_per_second"` // the most in one second
}

type planEvent struct {
	Event      string            `json:"event"`
	Fired      rate              `json:"events"`
	Reports    rate              `json:"reports"`
	Share      float64           `json:"share_of_int_packets"` // reports to packets with INT
	Suppressed map[string]uint64 `json:"suppressed"`
}

type planCollector struct {
	Collector string            `json:"collector"`
	Reports   rate              `json:"reports"`
	Packets   rate              `json:"packets"`
	Bits      rate              `json:"bits"`
	Share     float64           `json:"share_of_int_packets"`
	Dropped   map[string]uint64 `json:"dropped"`
	Shed      map[string]uint64 `json:"shed"` // by its budget, by event
}

// rate is per second of the capture; a shorter one counts as a second.
func (p *plan) rate(s *series) rate {
	return rate{Total: s.total, Mean: float64(s.total) / max(p.Seconds, 1), Peak: s.peak}
}

func (p *plan) share(n uint64) float64 {
	return float64(n) / float64(max(p.Packets.INT, 1))
}

// event is the row of an event, all zero where it did not occur.
func (p *plan) event(name string) planEvent {
	for _, e := range p.Events {
		if e.Event == name {
			return e
		}
	}
	return planEvent{Event: name}
}

// collector is the row of a collector; false: there is none of that name.
func (p *plan) collector(name string) (planCollector, bool) {
	for _, c := range p.Collectors {
		if c.Collector == name {
			return c, true
		}
	}
	return planCollector{Collector: name}, false
}
