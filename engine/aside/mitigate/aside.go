// Aside: rules of mitigation in a worker: which packets of a burst they select, drop and count.

package mitigate

import (
	"math"
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

// Aside drops packets of one worker by rules, while there are any. It has the flows marked whose packets some rule may select.
// Packets of the other flows lose their INT in package fast, and no rule is asked about them. Every burst is due until all
// flows are marked, where flows are told apart by inner keys, which rules do not ask about, and where packets have no flows.
type Aside struct {
	aside.Dropper
	selector.Reader
	number   int // of the worker
	asker    *aside.Asker
	counters []*LinkCounters // by link
	table    *Table          // in force; nil: there are no rules
	byFlow   bool            // packets have flows with keys that rules ask about
	places   *flows.Table
	first    []int16              // by the place of a flow that is marked: the first rule that its key fits, be it one that has ended, or selector.None
	selected [mbuf.MaxBurst]*Rule // that want packets of the burst dropped
	any      bool                 // of selected is not nil
	batch    batch

	asked   atomic.Pointer[Table] // by another goroutine
	inForce atomic.Pointer[Table] // of what was asked for
}

// NewAside makes the aside of the worker of this number, whose flows table has, and marks marks.
func NewAside(number int, table *flows.Table, marks *aside.Marks, counters []*LinkCounters) *Aside {
	a := &Aside{number: number, asker: marks.Asker(), places: table, first: make([]int16, table.Places()), counters: counters}
	a.Dropper = aside.Dropper{Select: a.selectOf, Drop: a.drop, Adopt: a.adopt}
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
		if a.table, a.On = t, t != nil; a.On {
			a.asker.Ask(a.maySelect)
		} else {
			a.asker.Ask(nil)
		}
		a.inForce.Store(t)
	}
	a.asker.Tick()
}

// maySelect finds the first rule that the key of f fits, and tells whether there is one.
func (a *Aside) maySelect(f *flows.Flow) bool {
	at := a.table.FirstByKey(&f.Key)
	a.first[a.places.Place(f)] = int16(at)
	return at != selector.None
}

// Next implements aside.Aside.
func (a *Aside) Next() (packets, at int64) {
	if a.table != nil && !a.knowsFlows() {
		return 0, 0
	}
	return aside.Never, aside.Never
}

// knowsFlows tells whether packets of flows that are not marked may go.
func (a *Aside) knowsFlows() bool { return a.byFlow && a.asker.Marked() }

// Due tells whether packets must keep their INT, whatever their flows: any of them may be selected.
func (a *Aside) Due(b *burst.Burst, _ int64) bool {
	return a.table != nil && !a.knowsFlows() && b.Link.Droppable
}

// selectOf asks the rules about each packet of the burst, but for those of flows that no rule can select. It counts the packets
// that a rule selects, and notes those to be dropped (Burst.Doomed); where there are any, it sets Burst.Aside, and drop is to
// be called.
func (a *Aside) selectOf(b *burst.Burst) {
	left, byFlow := a.left(b)
	if !b.Link.Droppable || left == 0 && b.Fast.Len() == b.N {
		return
	}
	a.selected = [mbuf.MaxBurst]*Rule{}
	j := 0
	for i := range b.N {
		if j == b.Fast.Len() || int(b.Fast.At[j]) != i { // no INT
			m := b.Vec[i]
			a.apply(b, i, a.OfFrame(a.table.Table, burst.Headers(m), m.PktLen(), nil, b.Now))
			continue
		}
		if left>>j&1 != 0 {
			a.apply(b, i, a.ofINT(b, j, byFlow))
		}
		j++
	}
	a.flush(b)
}

// apply counts packet i of the burst, which the rule of place at selects, and notes it where it is to be dropped.
func (a *Aside) apply(b *burst.Burst, i, at int) {
	if at == selector.None {
		return
	}
	r, n := a.table.At(at), b.Vec[i].PktLen()
	a.run(b, r)
	a.batch.packets++
	a.batch.bytes += uint64(n)
	if r.Wants(b.Now, n) {
		a.selected[i], a.any, b.Aside = r, true, true
		b.Doomed |= 1 << i
		return
	}
	a.batch.passed++
	a.batch.passedBytes += uint64(n)
}

// batch is what a run of packets that one rule selects comes to: it is counted at once.
type batch struct {
	rule                  *Rule // nil: none is at hand
	packets, bytes        uint64
	passed, passedBytes   uint64
	dropped, droppedBytes uint64
}

// run makes the batch at hand one of r.
func (a *Aside) run(b *burst.Burst, r *Rule) {
	if a.batch.rule != r {
		a.flush(b)
		a.batch.rule = r
	}
}

// flush counts the batch at hand, which is of burst b.
func (a *Aside) flush(b *burst.Burst) {
	if x := &a.batch; x.rule != nil {
		if x.packets > 0 {
			x.rule.Count(a.number, x.packets, x.bytes)
		}
		if x.dropped > 0 {
			x.rule.Dropped(a.number, x.dropped, x.droppedBytes)
		}
		c := a.counters[b.Link.Index]
		c.Passed[x.rule.Action] += x.passed
		c.PassedBytes[x.rule.Action] += x.passedBytes
		c.Dropped[x.rule.Action] += x.dropped
		c.DroppedBytes[x.rule.Action] += x.droppedBytes
		*x = batch{}
	}
}

// ofINT is the place of the rule that selects INT packet j. byFlow: first tells it, for packets that have a flow.
func (a *Aside) ofINT(b *burst.Burst, j int, byFlow bool) int {
	if f := b.Fast.Flows[j]; byFlow && f != nil {
		at := int(a.first[a.places.Place(f)])
		if at == selector.None || b.Now < a.table.At(at).Expires() {
			return at
		}
	} // else one behind it may select the packet
	return a.OfINT(a.table.Table, b.Vec[b.Fast.At[j]], b, j)
}

// left are the INT packets of the burst that some rule may select, by their numbers. byFlow: their flows are known, and tell which.
func (a *Aside) left(b *burst.Burst) (left uint64, byFlow bool) {
	if !a.knowsFlows() || b.Fast.Unknown|b.Fast.Missing != 0 {
		return math.MaxUint64, false
	}
	left = b.Fast.Kept
	for _, j := range b.Fast.Deferred() {
		left |= 1 << j
	}
	return left, a.table.AsksKeyAlone()
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
		a.run(b, r)
		a.batch.dropped++
		a.batch.droppedBytes += uint64(n)
	}
	a.flush(b)
	b.LoseDropped()
	a.any = false
}

// Arrived implements aside.Aside.
func (a *Aside) Arrived(*burst.Burst) {}

// Leaving implements aside.Aside.
func (a *Aside) Leaving(*burst.Burst) {}
