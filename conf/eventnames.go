// The table of events in watch.events by name, and which of them a watch has by default.

package conf

// events lists every event by its name in watch.events; on says whether a watch
// that names none has it.
var events = []struct {
	name string
	on   func(*Events) bool
}{
	{"new_flow", always},
	{"path_change", always},
	{"hop_latency", always},
	{"end_to_end", always},
	{"link_latency", func(e *Events) bool { return e.LinkLatency.Absolute == AutoAbsolute }},
	{"congestion", func(e *Events) bool { return e.Congestion.Raise > 0 || e.Congestion.RaiseLatency > 0 }},
	{"tx_utilization", func(e *Events) bool { return e.TxUtilization.Raise == AutoRaise }},
	{"refresh", always},
	{"sample", never}, // watch.sample turns it on
	{"flow_end", always},
	{"loss", always}, // of flows whose domain declares a sequence
	{"drop", always},
	{"hop_limit", always},
	{"mtu_exceeded", always},
	{"malformed", always},
	{"leak", always},
	{"unknown_domain", always},
}

func always(*Events) bool { return true }
func never(*Events) bool  { return false }

// EventNames returns the names that watch.events takes.
func EventNames() []string {
	names := make([]string, len(events))
	for i := range events {
		names[i] = events[i].name
	}
	return names
}

// defaultEvents are the events of w if it does not name any.
func (w *Watch) defaultEvents(c *Config) []string {
	e := &c.Events
	if w.Override != nil {
		e = w.Override
	}
	var names []string
	for i := range events {
		if events[i].on(e) {
			names = append(names, events[i].name)
		}
	}
	return names
}
