// Package tonetwork is the other direction: INT that hosts send, and the mark of INT on packets that
// have none, are counted, taken off or dropped.
//
//	tonetwork.go  finds both, and settles what needs no change of a packet
//	change.go     takes INT out, clears marks
package tonetwork

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/metric"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// LeakPolicy says what becomes of INT from the host side.
type LeakPolicy uint8

const (
	ForwardLeaks LeakPolicy = iota // packets pass as they are
	StripLeaks                     // they lose their INT
	DropLeaks
)

// MarkPolicy says what becomes of packets from the host side that have no INT but bear its mark: the next node
// would read their payload as INT (INT 2.1, section 5.7.2).
type MarkPolicy uint8

const (
	ClearMarks MarkPolicy = iota // a DSCP loses the mark; other marks are the packet's own and stay
	DropMarks
	ForwardMarks
)

// MarkAction is what became of a packet from the host side that bore the mark of INT without INT.
type MarkAction uint8

const (
	MarkCleared MarkAction = iota
	MarkDropped
	MarkForwarded
	NumMarkActions
)

// String is the value of the action label.
func (a MarkAction) String() string {
	return [NumMarkActions]string{"cleared", "dropped", "forwarded"}[a]
}

// Counters are what the stage counts of one link.
type Counters struct {
	Leaked uint64                 // INT packets seen from host to network
	Marked [NumMarkActions]uint64 // packets without INT from host to network that bore its mark
}

// Metrics are those of a link.
var Metrics = []metric.Of[Counters]{
	{Name: "intsink_leaked_packets_total", Help: "INT packets from the host side; int.leak says what becomes of them", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.Leaked)
	}},
	{Name: "intsink_marked_packets_total", Help: "packets from the host side without INT that bear its mark: cleared (of a DSCP), dropped or forwarded", Samples: func(c *Counters, to metric.Samples) {
		for i, n := range c.Marked {
			to.Add(n, "action", MarkAction(i))
		}
	}},
}

// Rules say what becomes of INT and its mark from the hosts of one link.
type Rules struct {
	Leak LeakPolicy
	Mark MarkPolicy
}

// Stage is the stage of one worker.
type Stage struct {
	rules    []Rules     // by link
	counters []*Counters // by link
}

// New makes the stage of a worker; Adopt gives it its rules.
func New(counters []*Counters) *Stage { return &Stage{counters: counters} }

// Adopt makes r the rules of the stage, by link.
func (s *Stage) Adopt(r []Rules) { s.rules = r }

// Do looks for INT, and for its mark, in a burst from the host side, and for answers to who sends reports. INT has
// no business there: it is counted as a leak. Packets that are to be changed are in Change: a report shows
// them as they came.
func (s *Stage) Do(b *burst.Burst) {
	for i := range b.N {
		m := b.Vec[i]
		if at := b.Fast.Recognise(m.Bytes(), m.PktLen()); at == fast.None || b.Fast.IsINT(at) {
			s.fromHost(b, i)
		}
	}
}

// fromHost is Do for packet i, which has no template of packets without INT. Such packets bear no mark.
func (s *Stage) fromHost(b *burst.Burst, i int) {
	m := b.Vec[i]
	burst.Headers(m)
	status, result := s.find(m, b)
	if result == inthdr.Sound {
		s.leak(b, i)
		return
	}
	if s.settle(b, i, status, result) && s.rules[b.Link.Index].Mark == ClearMarks {
		b.Change |= 1 << i
	}
}

// find looks for INT in m. What it finds is in the first places of b.Layers, b.Info and b.Outers.
func (s *Stage) find(m *mbuf.Mbuf, b *burst.Burst) (packet.Status, inthdr.Result) {
	l, info := &b.Layers[0], &b.Info[0]
	info.Depth, info.Reason = 0, inthdr.ReasonNone
	f := m.Bytes()
	status := packet.Parse(f, m.PktLen(), l)
	if status != packet.OK {
		return status, inthdr.NotINT
	}
	return status, b.Link.Locator.Find(f, l, info, &b.Outers[0])
}

// leak counts packet i of the burst, which has INT.
//
//go:noinline
func (s *Stage) leak(b *burst.Burst, i int) {
	s.counters[b.Link.Index].Leaked++
	l := burst.Left{I: uint8(i), Frame: b.Vec[i], Event: event.Leak}
	switch s.rules[b.Link.Index].Leak {
	case DropLeaks:
		b.DropPacket(i, burst.DropLeak)
		l.Dropped, l.Why = true, burst.DropLeak
	case StripLeaks:
		why, drop := undeliverable(&b.Info[0])
		if !drop {
			b.Change |= 1 << i
			break
		}
		b.DropPacket(i, why)
		l.Dropped, l.Why = true, why
	}
	b.Leave(l)
}

// settle does with packet i, which has no sound INT, what does not change it: find has found status and result.
// It tells whether the packet bears the mark of INT, and stays.
func (s *Stage) settle(b *burst.Burst, i int, status packet.Status, result inthdr.Result) (marked bool) {
	m, l := b.Vec[i], &b.Layers[0]
	if status == packet.OK && result == inthdr.NotINT && b.Fast.MayStore() {
		b.Fast.StoreNotINT(m.Bytes(), l)
	}
	if x := b.Link.HostStation; x != nil && burst.MaybeNeighbor(status, l) {
		x.Hear(m.Bytes(), b.Now)
	}
	marked = result != inthdr.NotINT && b.Info[0].Reason != inthdr.ReasonTooDeep
	if marked = marked || b.Link.Locator.BearsDSCP(m.Bytes(), l, status); !marked {
		return false
	}
	switch s.rules[b.Link.Index].Mark {
	case DropMarks:
		b.DropPacket(i, burst.DropMark)
		b.Leave(burst.Left{I: uint8(i), Frame: m, Event: burst.NoEvent, Dropped: true, Why: burst.DropMark})
		s.count(b, MarkDropped)
		return false
	case ForwardMarks:
		s.count(b, MarkForwarded)
	}
	return true
}

func (s *Stage) count(b *burst.Burst, a MarkAction) { s.counters[b.Link.Index].Marked[a]++ }
