package flowapi

import (
	"slices"
	"testing"

	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/flows"
)

// TestEachEventWaits: each event that was just told of is among what a flow waits for, but those without a limit of the flow's own,
// and those that wait for the end of an episode.
func TestEachEventWaits(t *testing.T) {
	const now = 1_763_776_800e9
	without := []event.Event{event.NewFlow, event.PathSwitch, event.LinkLatency, event.Refresh, event.Sample, event.FlowEnd, event.Malformed, event.Leak, event.UnknownDomain,
		event.Congestion, event.TxUtilization}
	p := event.Policy{Events: 1<<event.NumEvents - 1}
	th := &p.Thresholds
	th.PathRate, th.Latency.Interval, th.EndToEnd.Interval, th.LossInterval, th.DropInterval, th.HopLimitRearm, th.MTURearm = 1, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9
	q := &inspect.PendingQuery{Query: new(inspect.Query), Watches: []watch.Watch{{Policy: p}}}
	q.Now, q.Flow = now, &inspect.Flow{}
	q.Flow.NumHops = 1
	q.Limits = inspect.Limits{LossSent: now, Cold: flows.Cold{PathRefill: now, EndSent: now, HopLimitSeen: now, MTUSeen: now}}
	q.Limits.Cold.HopSent[0], q.Limits.Cold.Dropped[0] = now, flows.DropLimit{Sent: now, Reason: 1}
	var d FlowDetail
	d.addWaits(q, nil)
	for e := range event.NumEvents {
		waits := slices.ContainsFunc(d.Waits, func(w WaitItem) bool { return w.Event == e.String() && w.Until.UnixNano() > now })
		if waits == slices.Contains(without, e) {
			t.Errorf("%s waits: %t", e, waits)
		}
	}
}
