// GET /api/v1/flows/{id}: finds one flow in all workers, fills its references, deadbands,
// paths and sequence numbers.

package flowapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// FlowDetail is /api/v1/flows/{id}: all that is known of one flow, and what it is
// compared with.
type FlowDetail struct {
	Now time.Time `json:"now"`
	FlowItem
	LastChange *time.Time      `json:"last_change"` // the last report that told more than refresh and sample do; null: there was none
	Changed    []string        `json:"changed"`     // its events
	Matched    bool            `json:"matched"`     // false: there are new rules since its last packet
	Closing    bool            `json:"closing"`
	Events     []string        `json:"events"`
	Thresholds *ThresholdsItem `json:"thresholds"` // null where no watch matches
	Hops       []ReferenceItem `json:"hops"`
	EndToEnd   *ReferenceItem  `json:"end_to_end"`
	Paths      []flowPathItem  `json:"paths"` // the current one first
	RefreshDue *time.Time      `json:"refresh_due"`
	Sequence   *sequenceItem   `json:"sequence"` // null where it declares no sequence numbers
	Waits      []WaitItem      `json:"waits"`
	Lacks      []LackItem      `json:"lacks"` // what its INT does not carry, and its watch needs; empty where its path is not known
}

// LackItem is a value that INT does not carry, as in status.Status.Lacking, and the events that are never told for want of it.
type LackItem struct {
	Value  string   `json:"value"`
	Events []string `json:"events"`
}

// lacksOf returns what the INT of a flow on a path lacks for a policy; knowsLoads is that of the rules.
func lacksOf(policy *event.Policy, knowsLoads bool, way *inspect.Path) []LackItem {
	items := []LackItem{}
	if way == nil {
		return items
	}
	layout := inthdr.LayoutOf(way.Bitmap, way.Format)
	for v, events := range policy.Missing(&layout, knowsLoads) {
		if events != 0 {
			items = append(items, LackItem{event.Lacking(v).String(), eventNames(events)})
		}
	}
	return items
}

// ReferenceItem is a latency that was last reported, or that the flow began with,
// and what it takes to be reported again.
type ReferenceItem struct {
	Node        *uint32    `json:"node,omitempty"`
	OnPath      *bool      `json:"on_path,omitempty"` // the current one
	ReferenceNs uint32     `json:"reference_ns"`
	AboveNs     uint64     `json:"above_ns"` // a value above it deviates
	BelowNs     *uint32    `json:"below_ns"` // a value below it deviates; null: none does
	Deviating   int        `json:"deviating"`
	Need        int        `json:"need"`
	Of          int        `json:"of"`                 // the last values; Need of them have to deviate
	Since       *time.Time `json:"since"`              // when it was reported; null: the flow, or its way over this node, began with it
	UsualNs     *uint32    `json:"usual_ns,omitempty"` // what half of all packets have at most there; absent: not known
}

type flowPathItem struct {
	PathItem
	Current  bool      `json:"current"`
	LastSeen time.Time `json:"last_seen"`
}

type sequenceItem struct {
	Lost       uint64 `json:"lost"`
	Reordered  uint64 `json:"reordered"`
	Duplicates uint64 `json:"duplicates"`
	Restarts   uint64 `json:"restarts"`
}

// flow is GET /api/v1/flows/{id}.
func (in *API) flow(ctx context.Context, p *parameters) (any, error) {
	if err := p.end(); err != nil {
		return nil, err
	}
	key, err := inspect.ParseFlowID(p.id)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	questions, err := in.ask(ctx, func(int) *inspect.Query {
		q := inspect.New(inspect.OneFlow|inspect.Ways|inspect.Queues|inspect.Interfaces, 0)
		q.Key = key
		return q
	})
	if err != nil {
		return nil, err
	}
	at := -1
	for i, q := range questions { // on two workers where the port spreads flows anew: the later one counts
		if q.Flow != nil && (at < 0 || q.Flow.Seen > questions[at].Flow.Seen) {
			at = i
		}
	}
	if at < 0 {
		return nil, apiError{http.StatusNotFound, "flow " + inspect.FlowID(&key) +
			" is not in the table: no INT packet of it came, or it ended, and the other direction is a flow of its own; " +
			"intsink top flows shows what is there, and so does GET /api/v1/flows?source=" + key.SrcAddr().String()}
	}
	d := newFlowDetail(at, questions[at], waysOf(questions))
	if d.Watch != nil {
		d.addWaits(questions[at], questions)
	}
	in.addUsual(d)
	return d, nil
}

func newFlowDetail(worker int, q *inspect.PendingQuery, known ways) *FlowDetail {
	f := q.Flow
	d := &FlowDetail{
		Now: timestamp(q.Now), FlowItem: newFlowItem(worker, f, q.Watches, known), Matched: f.Matched, Closing: f.Closing,
		Events: []string{}, Hops: []ReferenceItem{}, Paths: []flowPathItem{}, RefreshDue: someTime(f.RefreshDue), Waits: []WaitItem{}, Lacks: []LackItem{},
		LastChange: someTime(q.Limits.Cold.ChangeAt), Changed: eventNames(event.Set(q.Limits.Cold.Change)),
	}
	if f.Sequence {
		d.Sequence = &sequenceItem{f.Lost, f.Reordered, f.Duplicates, f.Restarts}
	}
	for i, p := range f.Paths[:f.NumPaths] {
		item := newPathItem(worker, p.Hash, known[worker][p.Hash])
		seen := min(flows.SinceLong(q.Now, p.Seen()), f.Seen) // a tick may be a millisecond late
		d.Paths = append(d.Paths, flowPathItem{item, i == 0, timestamp(seen)})
	}
	if d.Watch == nil {
		return d
	}
	policy := &q.Watches[f.Watch].Policy
	d.Events = eventNames(policy.Events)
	d.Thresholds = newThresholdsItem(policy)
	if f.NumPaths > 0 {
		d.Lacks = lacksOf(policy, q.KnowsLoads, known[worker][f.Paths[0].Hash])
	}
	if policy.Events.Has(event.HopLatency) {
		d.Hops = hopReferences(f, &q.Limits.Cold, &policy.Thresholds.Latency, known[worker][f.Paths[0].Hash])
	}
	if policy.Events.Has(event.EndToEnd) && f.EndKnown {
		r := newReference(&policy.Thresholds.EndToEnd, f.EndRef, f.EndWindow)
		r.Since = someTime(q.Limits.Cold.EndSent)
		d.EndToEnd = &r
	}
	return d
}

// hopReferences returns the references of a flow's nodes in the order of its path, then those of
// nodes on its other paths. way is nil if the path is not known.
func hopReferences(f *inspect.Flow, c *flows.Cold, b *event.Deadband, way *inspect.Path) []ReferenceItem {
	items := []ReferenceItem{}
	for i := range f.NumHops {
		h := &f.Hops[i]
		if h.Ref == inthdr.Unknown { // no packet has told its latency
			continue
		}
		r := newReference(b, h.Ref, f.Windows[i])
		r.Since = someTime(c.HopSent[i])
		r.Node = some(h.ID(), true)
		if way != nil && f.NumPaths > 0 {
			r.OnPath = some(place(way, h.ID()) < inspect.MaxWay, true)
		}
		items = append(items, r)
	}
	if way != nil {
		slices.SortStableFunc(items, func(a, b ReferenceItem) int { return cmp.Compare(place(way, *a.Node), place(way, *b.Node)) })
	}
	return items
}

// place is where a node stands on a path; MaxWay where it does not.
func place(p *inspect.Path, node uint32) int {
	at := slices.IndexFunc(p.Known(), func(h inspect.PathHop) bool { return h.Node == node })
	if at < 0 {
		return inspect.MaxWay
	}
	return at
}

// newReference works out what leaves the deadband around ref: more than Absolute
// and more than Relative of ref away from it.
func newReference(b *event.Deadband, ref uint32, window uint8) ReferenceItem {
	limit := max(uint64(b.Absolute), uint64(b.Relative*float64(ref)))
	r := ReferenceItem{ReferenceNs: ref, AboveNs: uint64(ref) + limit, Need: b.K, Of: b.N}
	if limit < uint64(ref) {
		r.BelowNs = some(ref-uint32(limit), true)
	}
	for i := range b.N {
		r.Deviating += int(window >> i & 1)
	}
	return r
}
