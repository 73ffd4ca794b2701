// Query: what can be asked of a worker; Step does a bounded slice of the work: visits flows
// and tables, fills rows.

package inspect

import (
	"cmp"
	"slices"

	"intsink/engine/event"
	"intsink/flows"
)

// What a Query asks for: a set.
type What uint8

const (
	OneFlow    What = 1 << iota // the flow of Query.Key
	BestFlows                   // the first flows that Query.Filter selects
	PathTotals                  // what the flows on each path add up to
	Ways                        // descriptions of paths
	Queues
	Interfaces
	Links
	Follow // some flows, the same ones in each answer
)

// Source is what a worker knows.
type Source struct {
	Table      *flows.Table
	Things     *event.Fabric
	Paths      *Paths
	Generation uint16 // of the rules in force
}

// Query is a question and its answer. What is not asked for stays empty.
type Query struct {
	What   What
	Key    flows.Key
	Filter Filter
	Order  Order
	After  *Position // flows before and at this place are left out of the best

	Now        int64  // of the answer
	Flow       *Flow  // nil: unknown
	Limits     Limits // of Flow
	Scanned    uint64 // flows in the table
	Matched    uint64 // of these, selected by Filter, and their sums:
	Packets    uint64
	Bytes      uint64
	Totals     Totals
	Ways       []Row[Path] // Key[0] is the hash that flows keep
	Queues     []Row[event.Queue]
	Interfaces []Row[event.Interface]
	Links      []Row[event.Link]
	Followed   []Followed

	best  best
	flow  Flow
	visit func(*flows.Flow) int // made once: a closure per Step would be an allocation
	keep  func(*flows.Flow) int // the same, of Followed
	watch int                   // index of Filter.Watch
	left  What                  // still to be done
	at    int                   // where in the table at hand
	src   *Source
}

// Row is one entry of a table of queues, interfaces, links or paths.
type Row[V any] struct {
	Key   [2]uint64
	Seen  uint32 // Tick
	Value V
}

// New makes a query with room for the first limit flows.
func New(what What, limit int) *Query {
	q := &Query{What: what}
	if what&BestFlows != 0 {
		q.best = newBest(limit)
	}
	if what&PathTotals != 0 {
		q.Totals = newTotals()
	}
	if what&Ways != 0 {
		q.Ways = make([]Row[Path], 0, MaxPaths)
	}
	if what&Queues != 0 {
		q.Queues = make([]Row[event.Queue], 0, event.MaxQueues)
	}
	if what&Interfaces != 0 {
		q.Interfaces = make([]Row[event.Interface], 0, event.MaxInterfaces)
	}
	if what&Links != 0 {
		q.Links = make([]Row[event.Link], 0, event.MaxLinks)
	}
	if what&Follow != 0 {
		q.Followed = make([]Followed, 0, MaxFollowed)
	}
	q.visit, q.keep = q.visitFlow, q.follow
	return q
}

// Begin starts the answer, or starts it again. watch is the index that Filter.Watch
// has in the rules in force, -1 where there is none of that name.
func (q *Query) Begin(watch int) {
	q.watch, q.left, q.at = watch, q.What, 0
	q.Flow, q.Scanned, q.Matched, q.Packets, q.Bytes = nil, 0, 0, 0, 0
	q.best.found, q.best.places = q.best.found[:0], q.best.places[:0]
	q.Totals.clear()
	q.Ways, q.Queues, q.Interfaces, q.Links = q.Ways[:0], q.Queues[:0], q.Interfaces[:0], q.Links[:0]
	q.Followed = q.Followed[:0]
}

// Costs in units of about eight nanoseconds: of looking at a flow, of keeping it,
// of copying a row.
const (
	flowCost = 4
	keepCost = 24
	rowCost  = 4
)

// Step works for about budget units and returns what it left of them, at most a flow or
// a row below 0, and whether the answer is complete.
func (q *Query) Step(s *Source, now int64, budget int) (left int, done bool) {
	q.Now, q.src = now, s
	for budget > 0 && q.left != 0 {
		switch {
		case q.left&OneFlow != 0:
			if f := s.Table.Find(&q.Key); f != nil {
				q.flow.copyFrom(now, f, s.Generation)
				q.Flow = &q.flow
				q.Limits.copyFrom(f)
			}
			q.left &^= OneFlow
			budget -= keepCost
		case q.left&(BestFlows|PathTotals) != 0:
			q.at, budget = s.Table.Walk(q.at, budget, q.visit)
			q.next(BestFlows | PathTotals)
		case q.left&Follow != 0:
			q.at, budget = s.Table.WalkPart(q.at, budget, MaxFollowed, q.keep)
			q.next(Follow)
		case q.left&Ways != 0:
			budget = walk(q, Ways, s.Paths.Small, &q.Ways, budget)
		case q.left&Queues != 0:
			budget = walk(q, Queues, s.Things.Queues, &q.Queues, budget)
		case q.left&Interfaces != 0:
			budget = walk(q, Interfaces, s.Things.Interfaces, &q.Interfaces, budget)
		case q.left&Links != 0:
			budget = walk(q, Links, s.Things.Links, &q.Links, budget)
		}
	}
	q.src = nil
	return budget, q.left == 0
}

// next removes table from those left to read, once all of it was read.
func (q *Query) next(table What) {
	if q.at == 0 {
		q.left &^= table
	}
}

// walk copies rows of t, as many as fit.
func walk[V any](q *Query, table What, t *flows.Small[V], rows *[]Row[V], budget int) int {
	n := max(budget/rowCost, 1)
	out := *rows
	q.at = t.Walk(q.at, n, func(key [2]uint64, seen uint32, v *V) {
		if len(out) < cap(out) {
			out = append(out, Row[V]{key, seen, *v})
		}
	})
	*rows = out
	q.next(table)
	return budget - n*rowCost
}

// visitFlow takes one flow in and returns what that cost.
func (q *Query) visitFlow(f *flows.Flow) int {
	cost := flowCost
	if f.HasCold() {
		cost += flowCost
	}
	q.Scanned++
	if q.left&PathTotals != 0 {
		q.Totals.add(f)
		cost += flowCost
	}
	if q.left&BestFlows == 0 || !q.Filter.match(f, q.watch, q.src.Generation) {
		return cost
	}
	packets, bytes := f.Totals()
	q.Matched++
	q.Packets += packets
	q.Bytes += bytes
	p := Position{q.Order.of(f), f.Key}
	if q.After != nil && !q.After.Before(&p) {
		return cost
	}
	if r := q.best.room(&p); r != nil {
		r.Flow.copyFrom(q.Now, f, q.src.Generation)
		cost += keepCost
	}
	return cost
}

// Best returns the flows that were found, in their order.
func (q *Query) Best() []Found {
	slices.SortFunc(q.best.found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), a.Key.Compare(&b.Key))
	})
	return q.best.found
}
