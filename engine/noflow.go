// Events of packets that belong to no flow (malformed, leak), and which collectors hear of
// them.

package engine

import "intsink/engine/event"

// eventCollectors is which collectors hear of an event: those of all watches that have it.
// Packets that belong to no flow are reported by it.
type eventCollectors [event.NumEvents]uint64

func eventCollectorsOf(r *Rules) (in eventCollectors) {
	for i := range r.Watches {
		for e := range in {
			if r.Watches[i].Policy.Events.Has(event.Event(e)) {
				in[e] |= r.Watches[i].Collectors
			}
		}
	}
	return in
}

// of is who hears of any event of set.
func (in *eventCollectors) of(set event.Set) (collectors uint64) {
	for e := range in {
		if set.Has(event.Event(e)) {
			collectors |= in[e]
		}
	}
	return collectors
}

// noFlowEvent is the event of a packet that belongs to no flow, at most one per port
// and second: malformed or leak.
func (w *Worker) noFlowEvent(p *linkState, e event.Event, now int64) event.Set {
	if w.eventCollectors[e] == 0 {
		w.detector.Counters.Fired[e]++
		return 0
	}
	return w.detector.Limited(now, e, &p.limits.lastReported[e])
}
