package event

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

// Priority is that of a report of all events of s: its first one's. edge: its
// congestion is an onset or a clear.
func (s Set) Priority(edge bool) Priority {
	for p, of := range priorities {
		if s&of != 0 || edge && Priority(p) == PriorityCongestion && s.Has(Congestion) {
			return Priority(p)
		}
	}
	return PrioritySample
}
