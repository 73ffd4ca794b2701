// Waits: what keeps an event of a flow from being reported now: intervals, rates, and episodes of
// the queues and interfaces on its way.

package flowapi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"intsink/engine/aside/inspect"
	"intsink/engine/burst"
	"intsink/engine/event"
)

// WaitItem is why an event of the flow is not reported now, or not at each packet.
type WaitItem struct {
	Event   string     `json:"event"`
	Place   string     `json:"place,omitempty"` // "node 102", "queue 102:2:5", "interface 102:2", "reason tx_full"
	Why     string     `json:"why"`             // "interval", "rate", "flag" (seen lately), "episode" or "quota" (of an episode, used up)
	Until   *time.Time `json:"until"`           // when it is over; null: when an episode ends
	Since   *time.Time `json:"since,omitempty"` // when the episode began
	Reports uint32     `json:"reports,omitempty"`
	Quota   int        `json:"quota,omitempty"` // of Reports
}

// addWaits adds what holds now for the events that the flow's watch asks for. q is the answer of the flow's worker.
func (d *FlowDetail) addWaits(q *inspect.PendingQuery, questions []*inspect.PendingQuery) {
	policy := &q.Watches[q.Flow.Watch].Policy
	t, c := &policy.Thresholds, &q.Limits.Cold
	until := func(e event.Event, place, why string, last, length int64) {
		if last != 0 && last+length > q.Now && policy.Events.Has(e) {
			d.Waits = append(d.Waits, WaitItem{Event: e.String(), Place: place, Why: why, Until: someTime(last + length)})
		}
	}
	if next := event.NextPathReport(q.Now, c, t.PathRate); next > q.Now {
		until(event.PathChange, "", "rate", q.Now, next-q.Now)
	}
	for i := range q.Flow.NumHops {
		until(event.HopLatency, fmt.Sprintf("node %d", q.Flow.Hops[i].ID()), "interval", c.HopSent[i], t.Latency.Interval)
	}
	until(event.EndToEnd, "", "interval", c.EndSent, t.EndToEnd.Interval)
	d.addEpisodes(q, questions)
	until(event.Loss, "", "interval", q.Limits.LossSent, t.LossInterval)
	for _, l := range c.Dropped {
		place := "other reasons"
		if l.Reason != 0 {
			place = "reason " + burst.DropReason(l.Reason-1).String()
		}
		until(event.Drop, place, "interval", l.Sent, t.DropInterval)
	}
	until(event.HopLimit, "", "flag", c.HopLimitSeen, t.HopLimitRearm)
	until(event.MTUExceeded, "", "flag", c.MTUSeen, t.MTURearm)
}

// addEpisodes adds the queues and interfaces on the flow's current path that are in an episode. Which of an interface's
// queues the flow takes stands in its packets alone: all of them are listed.
func (d *FlowDetail) addEpisodes(q *inspect.PendingQuery, questions []*inspect.PendingQuery) {
	if len(d.Paths) == 0 {
		return
	}
	policy := &q.Watches[q.Flow.Watch].Policy
	t, onWay := &policy.Thresholds, func(interfaceKey uint64) bool {
		return slices.ContainsFunc(d.Paths[0].Nodes, func(h pathHopItem) bool {
			return uint64(h.Node)<<32|uint64(port(h.Egress)) == interfaceKey
		})
	}
	var found []WaitItem
	if policy.Events.Has(event.Congestion) {
		for key, x := range mergeQueues(questions, inEpisode) {
			if !x.Congested || !onWay(key[0]) {
				continue
			}
			w := WaitItem{Event: event.Congestion.String(), Place: "queue " + x.ID, Why: "episode", Since: x.Since, Reports: x.Reports, Quota: t.CongestionQuota}
			if int(x.Reports) >= t.CongestionQuota {
				w.Why = "quota"
			}
			found = append(found, w)
		}
	}
	if policy.Events.Has(event.TxUtilization) {
		for i := range q.Interfaces {
			r := &q.Interfaces[i]
			if v := &r.Value; v.Busy && v.Reported && onWay(r.Key[0]) && q.Now-v.Seen <= max(event.InterfaceMemory, t.TxHold) {
				found = append(found, WaitItem{Event: event.TxUtilization.String(), Place: fmt.Sprintf("interface %d:%d", r.Key[0]>>32, uint16(r.Key[0])), Why: "episode"})
			}
		}
	}
	slices.SortFunc(found, func(a, b WaitItem) int { return strings.Compare(a.Place, b.Place) })
	d.Waits = append(d.Waits, found...)
}
