// Marks: which flows have packets that some aside may want with their INT.

package aside

import (
	"math/bits"

	"intsink/engine/burst"
	"intsink/flows"
)

// Marks are the marks of a worker's flows (flows.Flow.SetSuspect): packets of marked ones keep their INT in package fast, since some
// aside may want them; it does not have to look at those of others. Each flow is marked for all asides together.
type Marks struct {
	table  *flows.Table
	askers []*Asker
	at     int // place of the flow that is marked next
}

// marksAtOnce is how many flows are marked in a tick: 40 us of a millisecond.
const marksAtOnce = 256

// NewMarks makes marks of the flows of table: none.
func NewMarks(table *flows.Table) *Marks { return &Marks{table: table} }

// Asker is one of the asides that ask for packets by the keys of their flows.
type Asker struct {
	marks  *Marks
	may    func(*flows.Flow) bool // nil: it wants no packet
	marked bool                   // all flows are, by may
}

// Asker makes one more. It wants no packet until Ask.
func (m *Marks) Asker() *Asker {
	a := &Asker{marks: m, marked: true}
	m.askers = append(m.askers, a)
	return a
}

// Ask has flows marked for which may returns true: the asker may want their packets. A nil may marks none. Ticks mark the flows that
// there are, and Marked returns true once all are; Fresh marks a new flow before its first packet.
func (a *Asker) Ask(may func(*flows.Flow) bool) {
	a.may, a.marked = may, a.may == nil && may == nil && a.marked
	if !a.marked {
		a.marks.at = 0
	}
}

// Marked tells whether all flows are marked whose packets the asker may want.
func (a *Asker) Marked() bool { return a.marked }

// Alone tells whether flows that are marked are so for this asker, and no other.
func (a *Asker) Alone() bool {
	for _, o := range a.marks.askers {
		if o != a && (o.may != nil || !o.marked) {
			return false
		}
	}
	return a.marked
}

// Tick marks some flows, until all are.
func (a *Asker) Tick() {
	m := a.marks
	if a.marked {
		return
	}
	m.at, _ = m.table.Walk(m.at, 2*marksAtOnce, func(f *flows.Flow) int { m.mark(f); return 1 })
	if m.at == 0 { // since the last Ask
		for _, o := range m.askers {
			o.marked = true
		}
	}
}

func (m *Marks) mark(f *flows.Flow) {
	is := false
	for _, a := range m.askers {
		is = a.may != nil && a.may(f) || is
	}
	f.SetSuspect(is)
}

// Fresh marks the flows that were made for the burst.
func (m *Marks) Fresh(b *burst.Burst) {
	for left := b.Fresh; left != 0; left &= left - 1 {
		m.mark(b.Fast.Flows[bits.TrailingZeros64(left)])
	}
}
