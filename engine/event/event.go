// Package event decides which packets are worth a report. It compares a
// packet's hops with what its flow last reported: deadbands, not buckets, with
// rate limits, so that an operator hears of every change once.
//
// Time is passed in as Unix nanoseconds. A Detector belongs to one worker.
//
// Packets and flow state enter (Detector.Packet), a Set of events leaves:
//
//	event.go, policy.go                       the events; the thresholds of one watch
//	detector.go                               Packet: calls the tests below for each packet
//	unchanged.go, fastpolicy.go, fastview.go  NoEvent, and what package fast needs to decide the same
//	path.go                                   path_change, path_switch
//	hops.go, hops2016.go, hopvalues.go        walk the hop stack of INT-MD, of June 2016; values of one hop
//	latency.go, linklatency.go, deadband.go   hop_latency and end_to_end; link_latency; their test
//	nodemodel.go, stamp.go                    units of a node's values; its timestamps
//	congestion.go, txutilization.go           episodes of queues and of interfaces (belowthresholds.go)
//	fabric.go, hotset.go, shared.go           queues, interfaces, links: tables, filter, state of all workers
//	sequence.go, drop.go, flags.go            loss; drop; hop_limit and mtu_exceeded
//	limited.go, priority.go                   limits per port; which report goes first under a budget
package event

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

// String is the event's name in configuration, metrics and decode.
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

// Has reports whether e is in s.
func (s Set) Has(e Event) bool { return s>>e&1 != 0 }

// SuppressReason says why an event gave no report.
type SuppressReason uint8

const (
	SuppressRate     SuppressReason = iota // its token bucket was empty
	SuppressInterval                       // too soon after the last one
	SuppressQuota                          // the congestion episode has had its reports
	NumSuppressReasons
)

// String is the value of the reason label.
func (r SuppressReason) String() string {
	return [NumSuppressReasons]string{"rate", "interval", "quota"}[r]
}

// Counters of one detector.
type Counters struct {
	Fired         [NumEvents]uint64 // each time an event entered, reported or not
	Suppressed    [NumEvents][NumSuppressReasons]uint64
	UntrackedHops uint64 // latencies of hops beyond a flow's room
	ClockSkew     uint64 // latencies that were withheld because they came out negative

	Lost, Reordered, Duplicates, Restarts uint64 // sequence numbers
}
