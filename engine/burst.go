// burst: one received burst, its bit sets and the stages in which each field is valid; the
// cause of a report; counts drops by reason (dropPacket).

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// verdict is what becomes of one packet of a burst.
type verdict uint8

const (
	forward  verdict = iota
	consumed         // it is in burst.drop
)

// burst is one received burst on its way through the stages. Two index spaces:
//
//	i  the packet's place in vec, 0 to n-1, in the order in which packets came
//	j  the packet's number among those with sound INT, 0 to fast.Len()-1; fast tells its i
//
// Capitals in front of a comment say in which stages the field is valid: P match or parse, L look
// up and pass, D detect, R report, S strip, T transmit.
// A stage in brackets sets it.
type burst struct {
	vec     *mbuf.Vec // PLDRST  vec[:n] as received; strip moves the start of a frame
	n       int       // PLDRST
	ingress uint16    // PLDR    watch.IngressOf, of the port that it came by
	now     int64     // PLDRST  receive time of the whole burst, Unix nanoseconds
	tx      *mbuf.Vec // T       to transmit, in order, where some packet was dropped
	drop    *mbuf.Vec // PLDRST  drop[:nDrop] are freed before the burst is transmitted
	back    *mbuf.Vec // T       what comes in the other direction meanwhile

	nDrop int

	// By i.
	verdict [mbuf.MaxBurst]verdict       // [P]LDR[S]T
	why     [mbuf.MaxBurst]DropReason    // [P]LDR[S]T of packets that are consumed
	parsed  uint64                       // [P]L[D]RS bit i: the next two, and outers, are those of vec[i]
	layers  [mbuf.MaxBurst]packet.Layers // [P]L[D]RS
	info    [mbuf.MaxBurst]inthdr.Info   // [P]L[D]RS of packets with INT
	outers  [mbuf.MaxBurst]inthdr.Outers // [P]L[D]RS of packets whose Info.Depth is not zero

	// By j: fast has the place in vec, template, key, hash and flow of packet j.
	fast       *fast.Path
	fresh      uint64                       // [L]D   bit j: the flow was made for this packet
	keeps      uint64                       // [D]RS  bit j: the packet keeps its INT until strip
	reportable uint64                       // [D]R   bit j: the next two are those of packet j
	cause      [mbuf.MaxBurst]cause         // [D]R   why it is reported
	trigger    [mbuf.MaxBurst]event.Trigger // [D]R   of its events & event.Triggered
}

func newBurst(f *fast.Path) *burst {
	return &burst{vec: mbuf.NewVec(), tx: mbuf.NewVec(), drop: mbuf.NewVec(), back: mbuf.NewVec(), fast: f}
}

// clear forgets what was known of the burst before.
func (b *burst) clear() {
	clear(b.verdict[:])
	b.parsed, b.fresh, b.reportable, b.keeps = 0, 0, 0, 0
}

// dropPacket takes packet i out of the burst, and counts it.
func (b *burst) dropPacket(i int, reason DropReason, c *DirectionCounters) {
	b.verdict[i], b.why[i] = consumed, reason
	b.drop[b.nDrop] = b.vec[i]
	b.nDrop++
	c.Dropped[reason]++
}

// header returns the INT of packet j. If its bit in parsed is not set, only the fields that are
// the same for all packets of its template are valid.
func (b *burst) header(j uint8) *inthdr.Info {
	if i := b.fast.At[j&(mbuf.MaxBurst-1)] & (mbuf.MaxBurst - 1); b.parsed>>i&1 != 0 {
		return &b.info[i]
	}
	return b.fast.Info(b.fast.Template[j&(mbuf.MaxBurst-1)])
}

// keepLeft makes all packets that were not dropped keep their INT.
func (b *burst) keepLeft() {
	b.keeps = 1<<b.fast.Len() - 1
	if b.nDrop == 0 {
		return
	}
	for j, i := range b.fast.At[:b.fast.Len()] {
		if b.verdict[i] == consumed {
			b.keeps &^= 1 << j
		}
	}
}

// cause is why a packet is reported: its events, the watch that has them, and whether its
// event.Congestion is an onset or a clear. Packets of one cause go to the same collectors and
// have the same priority.
//
//	| edge 1 | watch 8 | events 32 |
//
// The watch is that of the packet: a later one may give its flow another, or none.
type cause uint64

const (
	causeWatch = 32
	causeEdge  = 40
)

func causeOf(set event.Set, watch uint8, edge bool) cause {
	c := cause(set) | cause(watch)<<causeWatch
	if edge {
		c |= 1 << causeEdge
	}
	return c
}

func (c cause) set() event.Set           { return event.Set(c) }
func (c cause) watch() uint8             { return uint8(c >> causeWatch) }
func (c cause) priority() event.Priority { return c.set().Priority(c>>causeEdge&1 != 0) }
