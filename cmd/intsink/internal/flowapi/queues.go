// GET /api/v1/queues, and one of them: lists occupancy and congestion episodes; tableTotals: how many rows a
// list of queues, interfaces or links has in all.

package flowapi

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/usual"
	"intsink/flows"
)

// tableTotals has the sums of a whole list of queues, interfaces or links. An answer shows one
// page of the list.
type tableTotals struct {
	Rows      int    `json:"rows"`
	Congested *int   `json:"congested,omitempty"` // of queues only
	Hint      string `json:"hint,omitempty"`      // of interfaces only: what their loads say of a unit that is not known, or cannot be
}

// queueItem is one queue of an egress interface of a node.
type queueItem struct {
	ID            string     `json:"id"` // node:egress:queue
	Node          uint32     `json:"node"`
	Egress        *uint16    `json:"egress"`
	Queue         uint8      `json:"queue"`
	Occupancy     *uint32    `json:"occupancy"`
	LatencyNs     *uint32    `json:"latency_ns"`
	Congested     bool       `json:"congested"`
	Since         *time.Time `json:"since"`
	Episodes      uint64     `json:"episodes"`
	Reports       uint32     `json:"reports"`
	LastSeen      time.Time  `json:"last_seen"`
	Marked        uint64     `json:"ecn_marked"` // packets that passed it and came with the mark of some queue: CE
	LastMarked    *time.Time `json:"last_marked"`
	TxUtilization *uint32    `json:"tx_utilization"`

	Buffer           *uint32 `json:"buffer"` // its number
	BufferOccupancy  *uint32 `json:"buffer_occupancy"`
	CongestionStatus *uint32 `json:"congestion_status"`

	Usual usualItem `json:"usual"`
}

// queues is GET /api/v1/queues.
func (in *API) queues(ctx context.Context, p *parameters) (any, error) {
	node, egress, queue := number[uint32](p, "node", 32), number[uint16](p, "egress", 16), number[uint8](p, "queue", 8)
	congested, minOccupancy, minLatency := p.yes("congested"), p.least("min_occupancy"), p.least("min_latency_ns")
	g := p.paging("occupancy", "latency", "episodes", "last_seen", "ecn_marked")
	questions, err := in.tables(ctx, p, inspect.Queues|inspect.Interfaces)
	if err != nil {
		return nil, err
	}
	utilization, totals := utilizations(questions), &tableTotals{Congested: new(int)}
	var all []listed[*queueItem]
	for key, x := range mergeQueues(questions, in.congested) {
		x.TxUtilization = utilization[key[0]]
		x.Usual = in.usualOf(usual.Place{Kind: usual.Queue, Key: key})
		occupancy, latency := orZero(x.Occupancy), orZero(x.LatencyNs)
		if node != nil && *node != x.Node || egress != nil && *egress != uint16(key[0]) || queue != nil && *queue != x.Queue ||
			congested != nil && *congested != x.Congested || occupancy < minOccupancy || latency < minLatency {
			continue
		}
		if x.Congested {
			*totals.Congested++
		}
		value := map[string]uint64{"occupancy": uint64(occupancy), "latency": uint64(latency), "episodes": x.Episodes, "last_seen": uint64(x.LastSeen.UnixNano()), "ecn_marked": x.Marked}
		all = append(all, listed[*queueItem]{value[g.sort], fmt.Sprintf("%016x:%02x", key[0], key[1]), x})
	}
	totals.Rows = len(all)
	return cut(all, g, totals), nil
}

// queueIDs are the IDs as queueID writes them.
var queueIDs = regexp.MustCompile(`^[0-9]+:([0-9]+|-):[0-9]+$`)

// queueID is the ID of a queue: of its node, of the egress interface ("-": not known) and its own.
func (x *queueItem) queueID() string {
	egress := "-"
	if x.Egress != nil {
		egress = fmt.Sprint(*x.Egress)
	}
	return fmt.Sprintf("%d:%s:%d", x.Node, egress, x.Queue)
}

// queue is GET /api/v1/queues/{id}.
func (in *API) queue(ctx context.Context, p *parameters) (any, error) {
	if p.err == nil && !queueIDs.MatchString(p.id) {
		return nil, badRequest("%q is no id of a queue: write node:egress:queue, such as 112:2:1, with - for an interface that is not known", cli.Short(p.id))
	}
	questions, err := in.tables(ctx, p, inspect.Queues|inspect.Interfaces)
	if err != nil {
		return nil, err
	}
	for key, x := range mergeQueues(questions, in.congested) {
		if x.ID == p.id {
			x.TxUtilization, x.Usual = utilizations(questions)[key[0]], in.usualOf(usual.Place{Kind: usual.Queue, Key: key})
			return x, nil
		}
	}
	return nil, apiError{http.StatusNotFound, "queue " + p.id + " is not known: no watched packet went through it; GET /api/v1/queues lists those that are"}
}

// orZero is a value to sort by.
func orZero(x *uint32) uint32 {
	if x == nil {
		return 0
	}
	return *x
}

// inEpisode reports whether the queue is in an episode.
func inEpisode(q *inspect.PendingQuery, r *inspect.Row[event.Queue]) bool {
	return q.Congested(&r.Value)
}

// congested reports whether the queue is in an episode, and fuller than usual: where it is known to be as full as ever, what
// delays packets there is the node.
func (in *API) congested(q *inspect.PendingQuery, r *inspect.Row[event.Queue]) bool {
	if !inEpisode(q, r) {
		return false
	}
	return !q.Auto() || r.Value.Occupancy == unknownValue || in.usualOccupancy(r.Key).IsFuller(r.Value.Occupancy)
}

// usualOccupancy is what a queue's occupancy is held against.
func (in *API) usualOccupancy(queue [2]uint64) usual.Stat {
	v, _ := in.workers[0].Usual().Of(usual.Place{Kind: usual.Queue, Key: queue})
	_, held := v.Held()
	return held
}

// mergeQueues takes values from the worker that saw the queue last. Episodes hold over all
// workers: each knows of them, some a moment later.
func mergeQueues(questions []*inspect.PendingQuery, congested func(*inspect.PendingQuery, *inspect.Row[event.Queue]) bool) map[[2]uint64]*queueItem {
	merged := map[[2]uint64]*queueItem{}
	for _, q := range questions {
		for i := range q.Queues {
			r := &q.Queues[i]
			v, hot := &r.Value, congested(q, r)
			x := merged[r.Key]
			if x == nil {
				x = &queueItem{Node: uint32(r.Key[0] >> 32), Egress: knownPort(uint16(r.Key[0])), Queue: uint8(r.Key[1])}
				x.ID = x.queueID()
				merged[r.Key] = x
			}
			x.Episodes = max(x.Episodes, v.Episodes)
			x.Marked += v.Marked
			if at := someTime(v.MarkedAt); at != nil && (x.LastMarked == nil || at.After(*x.LastMarked)) {
				x.LastMarked = at
			}
			if hot {
				x.Reports = max(x.Reports, v.Reports)
			}
			if hot && (!x.Congested || timestamp(v.Since).Before(*x.Since)) || !x.Congested && v.Episodes > 0 && !hot {
				x.Since = someTime(v.Since)
			}
			x.Congested = x.Congested || hot
			if seen := timestamp(v.Seen); seen.After(x.LastSeen) {
				x.LastSeen, x.Occupancy = seen, some(v.Occupancy, v.Occupancy != unknownValue)
				x.LatencyNs = some(v.Latency, v.Latency != unknownValue && v.Latency != 0)
				x.Buffer, x.BufferOccupancy = some(v.Rest.Buffer, v.Rest.Buffer != unknownValue), some(v.Rest.BufferOccupancy, v.Rest.BufferOccupancy != unknownValue)
				x.CongestionStatus = some(v.Rest.Congestion, v.Rest.Congestion != unknownValue)
			}
		}
	}
	return merged
}

// utilizations are the last utilization of each egress interface, by its key.
func utilizations(questions []*inspect.PendingQuery) map[uint64]*uint32 {
	out, seen := map[uint64]*uint32{}, map[uint64]int64{}
	for _, q := range questions {
		for i := range q.Interfaces {
			r := &q.Interfaces[i]
			if at := flows.Since(q.Now, r.Seen); out[r.Key[0]] == nil || at > seen[r.Key[0]] {
				out[r.Key[0]], seen[r.Key[0]] = &r.Value.Utilization, at
			}
		}
	}
	return out
}
