// Aside: rules of mitigation in a worker: which packets of a burst they select, drop and count.

package mitigate

import (
	"math"
	"math/bits"
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside"
	"intsink/engine/burst"
	"intsink/engine/metric"
	"intsink/engine/selector"
	"intsink/engine/watch"
	"intsink/flows"
)

// LinkCounters are the packets of one link that rules of mitigation have selected, by action and
// by what became of them. What a rule wanted dropped, and was dropped for another reason
// before, is in neither.
type LinkCounters struct {
	Passed, Dropped           [NumActions]uint64
	PassedBytes, DroppedBytes [NumActions]uint64
}

// Metrics are those of a link.
var Metrics = []metric.Of[LinkCounters]{
	{Name: "intsink_mitigation_packets_total", Help: "packets that a rule of mitigation selected: passed or dropped", Samples: func(c *LinkCounters, to metric.Samples) {
		for a := range NumActions {
			to.Add(c.Passed[a], "action", a, "result", "passed")
			to.Add(c.Dropped[a], "action", a, "result", "dropped")
		}
	}},
	{Name: "intsink_mitigation_bytes_total", Help: "bytes of these packets as they came, without FCS", Samples: func(c *LinkCounters, to metric.Samples) {
		for a := range NumActions {
			to.Add(c.PassedBytes[a], "action", a, "result", "passed")
			to.Add(c.DroppedBytes[a], "action", a, "result", "dropped")
		}
	}},
}

func (c *LinkCounters) count(a Action, dropped bool, bytes int) {
	if dropped {
		c.Dropped[a]++
		c.DroppedBytes[a] += uint64(bytes)
		return
	}
	c.Passed[a]++
	c.PassedBytes[a] += uint64(bytes)
}

// Aside drops packets of one worker by rules, while there are any. It marks the flows whose packets some rule may select.
// Packets of the other flows lose their INT in package fast, and no rule is asked about them. Every burst is due until all
// flows are marked, where flows are told apart by inner keys, which rules do not ask about, and where packets have no flows.
type Aside struct {
	aside.Dropper
	selector.Reader
	number   int // of the worker
	flows    *flows.Table
	counters []*LinkCounters      // by link
	table    *Table               // in force; nil: there are no rules
	byFlow   bool                 // packets have flows with keys that rules ask about
	marked   bool                 // all flows are
	at       int                  // place of the flow that is marked next
	selected [mbuf.MaxBurst]*Rule // that want packets of the burst dropped
	any      bool                 // of selected is not nil

	asked   atomic.Pointer[Table] // by another goroutine
	inForce atomic.Pointer[Table] // of what was asked for
}

// marksAtOnce is how many flows are marked in a tick: 40 us of a millisecond.
const marksAtOnce = 256

// NewAside makes the aside of the worker of this number, whose flows table has.
func NewAside(number int, table *flows.Table, counters []*LinkCounters) *Aside {
	a := &Aside{number: number, flows: table, counters: counters, marked: true}
	a.Dropper = aside.Dropper{Select: a.selectOf, Drop: a.drop, Mark: a.markNew, Adopt: a.adopt}
	return a
}

// adopt makes the aside find the ids of devices where devices has them. watched: packets have flows;
// innerKeys: not with the keys that rules ask about.
func (a *Aside) adopt(devices watch.Devices, watched, innerKeys bool) {
	a.Reader.Adopt(devices, innerKeys)
	a.byFlow = watched && !innerKeys
}

// Mitigate hands over rules of mitigation, which are in force from the next tick on, in a
// millisecond; nil ends them. A reload leaves them alone. Safe from any goroutine.
func (a *Aside) Mitigate(t *Table) { a.asked.Store(t) }

// Mitigates tells whether t is in force, which Mitigate handed over last. Safe from any
// goroutine.
func (a *Aside) Mitigates(t *Table) bool { return a.inForce.Load() == t }

// Tick takes over the rules that were handed over, and marks some flows by them.
func (a *Aside) Tick(int64) {
	if t := a.asked.Load(); t != a.table {
		a.table, a.On, a.at, a.marked = t, t != nil, 0, false
		a.inForce.Store(t)
	}
	if !a.marked {
		a.at, _ = a.flows.Walk(a.at, 2*marksAtOnce, func(f *flows.Flow) int { a.mark(f); return 1 })
		a.marked = a.at == 0
	}
}

func (a *Aside) mark(f *flows.Flow) { f.SetSuspect(a.table != nil && a.table.MaySelect(&f.Key)) }

// markNew marks the flows that were made for the burst.
func (a *Aside) markNew(b *burst.Burst) {
	for left := b.Fresh; left != 0; left &= left - 1 {
		a.mark(b.Fast.Flows[bits.TrailingZeros64(left)])
	}
}

// Next implements aside.Aside.
func (a *Aside) Next() (packets, at int64) {
	if a.table != nil && !(a.marked && a.byFlow) {
		return 0, 0
	}
	return aside.Never, aside.Never
}

// Due tells whether packets must keep their INT, whatever their flows: any of them may be selected.
func (a *Aside) Due(b *burst.Burst, _ int64) bool {
	return a.table != nil && !(a.marked && a.byFlow) && b.Link.Droppable
}

// selectOf asks the rules about each packet of the burst, but for those of flows that no rule can select. It counts the packets
// that a rule selects, and notes those to be dropped (Burst.Doomed); where there are any, it sets Burst.Aside, and drop is to
// be called.
func (a *Aside) selectOf(b *burst.Burst) {
	left := a.left(b)
	if !b.Link.Droppable || left == 0 && b.Fast.Len() == b.N {
		return
	}
	a.selected = [mbuf.MaxBurst]*Rule{}
	for i, j := 0, 0; i < b.N; i++ {
		m := b.Vec[i]
		at := selector.None
		if j == b.Fast.Len() || int(b.Fast.At[j]) != i { // no INT
			at = a.OfFrame(a.table.Table, burst.Headers(m), m.PktLen(), nil, b.Now)
		} else {
			if left>>j&1 != 0 {
				at = a.OfINT(a.table.Table, m, b, j)
			}
			j++
		}
		if at == selector.None {
			continue
		}
		r, n := a.table.At(at), m.PktLen()
		if r.Apply(a.number, b.Now, n) {
			a.selected[i], a.any, b.Aside = r, true, true
			b.Doomed |= 1 << i
			continue
		}
		a.counters[b.Link.Index].count(r.Action, false, n)
	}
}

// left are the INT packets of the burst that some rule may select, by their numbers.
func (a *Aside) left(b *burst.Burst) (left uint64) {
	if !a.marked || !a.byFlow || b.Fast.Unknown|b.Fast.Missing != 0 {
		return math.MaxUint64
	}
	left = b.Fast.Kept
	for _, j := range b.Fast.Deferred() {
		left |= 1 << j
	}
	return left
}

// drop drops the packets that rules want dropped, and are still there: a report shows
// them as they came. The detector has seen them: the sink's own drops are no loss of the network.
func (a *Aside) drop(b *burst.Burst) {
	if !a.any {
		return
	}
	flowOf := b.FlowOf()
	for i := range b.N {
		r := a.selected[i]
		if r == nil || b.Verdict[i] == burst.Consumed {
			continue
		}
		n := b.Vec[i].PktLen()
		b.DropPacket(i, burst.DropRule)
		b.Leave(burst.Left{I: uint8(i), Frame: b.Vec[i], Flow: flowOf[i], Event: burst.NoEvent, Dropped: true, Why: burst.DropRule})
		r.Dropped(a.number, n)
		a.counters[b.Link.Index].count(r.Action, true, n)
	}
	b.LoseDropped()
	a.any = false
}

// Arrived implements aside.Aside.
func (a *Aside) Arrived(*burst.Burst) {}

// Leaving implements aside.Aside.
func (a *Aside) Leaving(*burst.Burst) {}
