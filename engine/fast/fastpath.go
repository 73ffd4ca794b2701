// Path: the fast path of one worker as engine calls it: Receive, Find, Pass, Deferred. Of
// its methods parsed.go, fill.go, store.go and c.go have the rest.

package fast

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// Path is the fast path of one worker: its State, and what Go remembers of each template.
type Path struct {
	*State
	marks    inthdr.Marks
	learned  [maxTemplates]learned
	victim   int    // template that is replaced next, if the burst has no packet of it
	oldest   int    // the same of a shape
	stores   uint64 // calls of MayStore
	fresh    uint64 // templates that were made since Receive
	portable bool   // the C without vectors runs
	parseAll bool   // no burst is matched, nothing is stored
	effort
}

// New makes the fast path of a worker whose flows index finds.
func New(index flows.Index, view *event.FastView) *Path {
	p := &Path{State: newState(), portable: !vectors}
	p.index, p.view = index, view
	return p
}

// Configure forgets all templates: packets are to be parsed as marks say from now on.
func (p *Path) Configure(marks inthdr.Marks) {
	p.marks, p.shapes, p.victim, p.oldest, p.stores, p.effort = marks, 0, 0, 0, 0, effort{}
	for i := range p.learned {
		p.learned[i].shape = none
	}
	p.special, p.parseAll, p.numbered = 0, false, 0
	p.forgetHints()
	for i, port := range marks.Ports {
		p.special |= uint64(swap(port)) << (16 * i)
	}
	if !haveC {
		p.ParseAll()
	}
}

// ParseAll makes every packet one that is to be parsed, until Configure is called: for
// tests, and to compare with.
func (p *Path) ParseAll() {
	p.shapes, p.parseAll, p.until = 0, true, 1
	p.forgetHints()
}

// Portable has the C without vectors run, whatever the processor: for tests.
func (p *Path) Portable() { p.portable = true }

// Burst is what Receive has to know of a burst.
type Burst struct {
	Vec        *mbuf.Vec
	N          int
	Now        int64
	Wall       int64  // what Now lacks to be the wall clock's
	Generation uint16 // of the rules
	Watched    bool   // there are watches
	Strip      bool   // packets lose their INT: they leave by another port
	Look       uint8  // 0, or one packet with INT is not passed, whatever it is: packet Look-1, counted on from the first behind the last
	Keep       bool   // no packet is passed
	Facts      Facts
	Link       int // it came by, from 0 on
}

// Facts of a packet beyond its flow's key that watches ask for. A packet is passed only
// where they are those that its flow's watch was found by.
type Facts struct {
	Asks uint8  // AsksVLAN and so on
	Key  uint64 // of their hash, odd
}

// Facts that the general path knows, in Facts.Asks.
const (
	AsksVLAN = 1 << iota
	AsksDSCP
	AsksLayer
	AsksDevice
	AsksLink
)

// State.keep.
const (
	keepAll = 1 << iota
	askAll
)

// Receive does with a burst what can be done without a parser. Where Unknown is not zero,
// those packets are to be parsed, then Find, flows.Table.Resolve and Pass do the rest; where
// Missing is not zero, those flows are to be made, and Pass does the rest. Without watches, packets
// have no flows: unless some are unknown or Deferred, they have lost their INT.
func (p *Path) Receive(b *Burst) {
	p.prepare(b)
	p.vec, p.n, p.now = b.Vec, uint32(b.N), b.Now
	p.tick, p.refresh = flows.Tick(b.Now), uint32(b.Now>>flows.RefreshShift)
	p.look, p.Types, p.linkNumber = b.Look, 0, uint32(b.Link+1)
	p.deferred, p.Samples, p.Met, p.Kept, p.Missing, p.fresh, p.Tallied, p.draws = 0, 0, 0, 0, 0, 0, 0, 0
	if p.until != 0 && (p.parseAll || p.skip()) {
		p.allUnknown()
		return
	}
	p.run(receive)
	p.matched(b.N)
}

// prepare takes over what Go says of a burst but for its packets and its time.
func (p *Path) prepare(b *Burst) {
	p.wall, p.generation, p.policies = b.Wall, uint32(b.Generation), uint32(p.view.Len())
	p.strip, p.watched, p.keep = bit(b.Strip), bit(b.Watched), bit(b.Keep)
	if b.Facts.Asks != 0 {
		p.keep |= askAll
	}
	p.factsKey, p.asks = b.Facts.Key, uint32(b.Facts.Asks)
}

// matched learns from a burst of n packets whether matching is worth its effort.
func (p *Path) matched(n int) {
	if p.Unknown == 0 {
		p.vain = 0
	} else if p.shapes == maxShapes {
		p.weigh(n, int(p.ints), p.Unknown)
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// Strips tells whether packets that are passed lose their INT.
func (p *Path) Strips() bool { return p.strip != 0 }

// Len returns how many packets of the burst have INT or are unknown.
func (p *Path) Len() int { return int(p.ints) }

// Find looks the flows of all packets up.
func (p *Path) Find() { p.run(lookup) }

// step is one of the loops over a burst.
type step uint8

const (
	receive step = iota
	lookup
	pass
)

// KeepINT makes packets that are passed from now on keep their INT, whatever Burst.Strip said.
func (p *Path) KeepINT() { p.strip = 0 }

// Pass passes packets that give no event, those without a flow among them; the others are Deferred.
func (p *Path) Pass() { p.run(pass) }

// Deferred are the packets, by their place in At, that are not passed, in order.
func (p *Path) Deferred() []uint8 { return p.deferredAt[:p.deferred] }

// TalliedFlows are the packets in Tallied that have a flow.
func (p *Path) TalliedFlows() uint64 { return p.Tallied &^ p.flowless }

// Drawn are the packets that records of queues have to take at once.
func (p *Path) Drawn() []episode.Drawn { return p.drawn[:min(int(p.draws), len(p.drawn))] }
