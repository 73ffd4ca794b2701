// Declares the closed list of events with their names, sets of events, the priority of a
// report under a budget, SuppressReason.

package event

import "intsink/engine/histogram"

// Event is what a report is sent for. The list is closed: it generates names,
// labels and counters.
type Event uint8

const (
	NewFlow Event = iota
	PathChange
	PathSwitch // a known path coming back; counted, reported as PathChange where asked for
	HopLatency
	EndToEnd
	LinkLatency
	Congestion
	TxUtilization
	Refresh
	Sample
	FlowEnd
	Loss
	Drop
	HopLimit
	MTUExceeded
	Malformed
	Leak
	UnknownDomain
	NumEvents
)

var names = [NumEvents]string{
	NewFlow: "new_flow", PathChange: "path_change", PathSwitch: "path_switch", HopLatency: "hop_latency",
	EndToEnd: "end_to_end", LinkLatency: "link_latency", Congestion: "congestion", TxUtilization: "tx_utilization",
	Refresh: "refresh", Sample: "sample", FlowEnd: "flow_end", Loss: "loss", Drop: "drop",
	HopLimit: "hop_limit", MTUExceeded: "mtu_exceeded",
	Malformed: "malformed", Leak: "leak", UnknownDomain: "unknown_domain",
}

// String returns the event's name in configuration, metrics and decode.
func (e Event) String() string {
	if e < NumEvents {
		return names[e]
	}
	return "unknown"
}

// Set returns the set of e alone.
func (e Event) Set() Set { return 1 << e }

// Named returns the event of that name.
func Named(name string) (Event, bool) {
	for e, n := range names {
		if n == name {
			return Event(e), true
		}
	}
	return 0, false
}

// Set is a set of events.
type Set uint32

// AllEvents is the set of all events.
const AllEvents Set = 1<<NumEvents - 1

// Has reports whether e is in s.
func (s Set) Has(e Event) bool { return s>>e&1 != 0 }

// News is what a report tells: that something changed, that a flow begins or ends, or no more than that all is as it was.
type News uint8

// What a report tells.
const (
	NoNews News = iota // refreshes and samples
	FlowNews
	ChangeNews
	NumNews
)

// String returns the value of the label news.
func (n News) String() string { return [NumNews]string{"none", "flow", "change"}[n%NumNews] }

// News returns what a report about s tells.
func (s Set) News() News {
	const flow, none = 1<<NewFlow | 1<<FlowEnd, 1<<Refresh | 1<<Sample
	switch {
	case s&^(flow|none) != 0:
		return ChangeNews
	case s&flow != 0:
		return FlowNews
	}
	return NoNews
}

// SuppressReason says why an event gave no report.
type SuppressReason uint8

const (
	SuppressRate     SuppressReason = iota // its token bucket was empty
	SuppressInterval                       // too soon after the last one
	SuppressQuota                          // the congestion episode has had its reports
	SuppressRestart                        // the sink has started again a moment ago, and flows are not new
	SuppressEpisode                        // the episode of the queue tells it
	NumSuppressReasons
)

// String returns the value of the reason label.
func (r SuppressReason) String() string {
	return [NumSuppressReasons]string{"rate", "interval", "quota", "restart", "episode"}[r]
}

// Counters of one detector.
type Counters struct {
	Fired         [NumEvents]uint64 // each time an event entered, reported or not
	Suppressed    [NumEvents][NumSuppressReasons]uint64
	UntrackedHops uint64 // latencies of hops beyond a flow's room
	ClockSkew     uint64 // latencies of links that were withheld because they came out negative, or a clock is known to be wrong
	WaySkew       uint64 // the same of whole ways: from a source to the sink

	Lacking [NumLacking]uint64 // new flows whose INT does not carry a value that a watched event needs

	IPHops [2]uint64 // of the paths that flows came onto, where the source's TTL tells them: without INT, with INT

	Lost, Reordered, Duplicates, Restarts uint64 // sequence numbers

	HopLatencies, LinkLatencies histogram.Histogram // of a random sample of packets: countLatencies
}

// Priority is the place of a report where a collector's budget is short: 0 goes
// first.
type Priority uint8

const (
	PriorityLoss       Priority = iota // packets are gone
	PriorityCongestion                 // an episode begins or ends
	PriorityPath                       // and what is rare, at most one per port and second
	PriorityLatency
	PriorityFlow
	PriorityRefresh
	PrioritySample
	NumPriorities
)

var priorities = [NumPriorities]Set{
	PriorityLoss: 1<<Drop | 1<<Loss,
	// Congestion is of PriorityCongestion at an edge only: see Set.Priority.
	PriorityPath:    1<<PathChange | 1<<PathSwitch | 1<<Malformed | 1<<Leak | 1<<UnknownDomain,
	PriorityLatency: 1<<HopLatency | 1<<EndToEnd | 1<<LinkLatency | 1<<Congestion | 1<<TxUtilization | 1<<HopLimit | 1<<MTUExceeded,
	PriorityFlow:    1<<NewFlow | 1<<FlowEnd,
	PriorityRefresh: 1 << Refresh,
	PrioritySample:  1 << Sample,
}

// Priority returns the priority of a report about all events of s: the highest of theirs. edge
// says that its congestion is an onset or a clear.
func (s Set) Priority(edge bool) Priority {
	for p, of := range priorities {
		if s&of != 0 || edge && Priority(p) == PriorityCongestion && s.Has(Congestion) {
			return Priority(p)
		}
	}
	return PrioritySample
}
