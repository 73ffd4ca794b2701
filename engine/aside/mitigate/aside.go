// Aside: rules of mitigation in a worker: which packets of a burst they select, drop and count.

package mitigate

import (
	"intsink/engine/metric"
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside"
	"intsink/engine/burst"
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

// Aside drops packets of one worker by rules, while there are any.
type Aside struct {
	Selector
	number   int                  // of the worker
	counters []*LinkCounters      // by link
	table    *Table               // in force; nil: there are no rules
	selected [mbuf.MaxBurst]*Rule // that want packets of the burst dropped; nil: none does

	asked   atomic.Pointer[Table] // by another goroutine
	inForce atomic.Pointer[Table] // of what was asked for
}

// NewAside makes the aside of the worker of this number.
func NewAside(number int, counters []*LinkCounters) *Aside {
	return &Aside{number: number, counters: counters}
}

// Mitigate hands over rules of mitigation, which are in force from the next tick on, in a
// millisecond; nil ends them. A reload leaves them alone. Safe from any goroutine.
func (a *Aside) Mitigate(t *Table) { a.asked.Store(t) }

// Mitigates tells whether t is in force, which Mitigate handed over last. Safe from any
// goroutine.
func (a *Aside) Mitigates(t *Table) bool { return a.inForce.Load() == t }

// Tick takes over the rules that were handed over.
func (a *Aside) Tick(int64) {
	if t := a.asked.Load(); t != a.table {
		a.table = t
		a.inForce.Store(t)
	}
}

// Next implements aside.Aside: while there are rules, every burst is due.
func (a *Aside) Next() (packets, at int64) {
	if a.table != nil {
		return 0, 0
	}
	return aside.Never, aside.Never
}

// Due asks the rules about each packet of the burst, counts, and keeps the rules of packets that
// are to be dropped. It tells whether there are any.
func (a *Aside) Due(b *burst.Burst, _ int64) (any bool) {
	if a.table == nil || !b.Link.Mitigation {
		return false
	}
	a.selected = [mbuf.MaxBurst]*Rule{}
	for i := range b.N {
		m := b.Vec[i]
		r := a.RuleOf(a.table, m, b)
		if r == nil {
			continue
		}
		n := m.PktLen()
		if r.Apply(a.number, b.Now, n) {
			a.selected[i], any = r, true
			continue
		}
		a.counters[b.Link.Index].count(r.Action, false, n)
	}
	return any
}

// Arrived drops the packets that rules want dropped, and are still there: a report shows
// them as they came. The detector has seen them: the sink's own drops are no loss of the network.
func (a *Aside) Arrived(b *burst.Burst) {
	flowOf := b.FlowOf()
	for i := range b.N {
		r := a.selected[i]
		if r == nil || b.Verdict[i] == burst.Consumed {
			continue
		}
		n := b.Vec[i].PktLen()
		b.DropPacket(i, burst.DropMitigation)
		b.Leave(burst.Left{I: uint8(i), Frame: b.Vec[i], Flow: flowOf[i], Event: burst.NoEvent, Dropped: true, Why: burst.DropMitigation})
		r.Dropped(a.number, n)
		a.counters[b.Link.Index].count(r.Action, true, n)
	}
}

// Leaving implements aside.Aside.
func (a *Aside) Leaving(*burst.Burst) {}
