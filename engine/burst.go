package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/flows"
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
//	j  the packet's number among those with sound INT, 0 to nINT-1; places[j] is its i
//
// Capitals in front of a comment say in which stages the field is valid: P parse, L look up,
// D detect (which passes the packets that give no event), R report, S strip, T transmit.
// A stage in brackets sets it.
type burst struct {
	vec  *mbuf.Vec // PLDRST  vec[:n] as received; strip moves the start of a frame
	n    int       // PLDRST
	now  int64     // PLDRST  receive time of the whole burst, Unix nanoseconds
	tx   *mbuf.Vec // T       to transmit, in order, where some packet was dropped
	drop *mbuf.Vec // PLDRST  drop[:nDrop] are freed before the burst is transmitted
	back *mbuf.Vec // T       what comes in the other direction meanwhile

	nDrop int

	// By i.
	verdict [mbuf.MaxBurst]verdict       // [P]LDR[S]T
	layers  [mbuf.MaxBurst]packet.Layers // [P]L[D]RS  of parsed packets; of those with Info.UDPv4 once detectOne had them
	info    [mbuf.MaxBurst]inthdr.Info   // [P]L[D]RS  of packets with INT that were parsed, or whose bit in completed is set
	outers  [mbuf.MaxBurst]inthdr.Outers // [P]LDRS    of packets whose Info.Depth is not zero

	// By j.
	places    [mbuf.MaxBurst]uint8        // [P]LDRST
	nINT      int                         // [P]LDRST
	header    [mbuf.MaxBurst]*inthdr.Info // [P]LDRS   what the INT says: info of this packet or, without its bit in completed, the header cache's, valid until the next Find
	completed uint64                      // [P]L[D]RS bit j: header[j] is &info[places[j]]
	unkeyed   uint64                      // [P]L      bit j: parse has not made keys[j] and hashes[j]
	keys      [mbuf.MaxBurst]flows.Key    // [PL]DR
	hashes    [mbuf.MaxBurst]uint64       // [PL]DR
	flow      [mbuf.MaxBurst]*flows.Flow  // [L]DRST   nil: the table had no room
	fresh     uint64                      // [L]D      bit j: the flow was made for this packet

	deferred   [mbuf.MaxBurst]uint8         // [D]RS  deferred[:nDeferred] are the j that keep their INT until strip
	nDeferred  int                          // [D]RS
	reportable uint64                       // [D]R   bit j: events[j] is not empty; else events, watch and trigger are not valid
	events     [mbuf.MaxBurst]event.Set     // [D]R
	watch      [mbuf.MaxBurst]uint8         // [D]R   that events[j] are of: a later packet may give its flow another one, or none
	trigger    [mbuf.MaxBurst]event.Trigger // [D]R   of events[j] & event.Triggered
	edges      uint64                       // [D]R   bit j: event.Congestion of events[j] is an onset or a clear
}

func newBurst() *burst {
	return &burst{vec: mbuf.NewVec(), tx: mbuf.NewVec(), drop: mbuf.NewVec(), back: mbuf.NewVec()}
}

// dropPacket takes packet i out of the burst, and counts it.
func (b *burst) dropPacket(i int, reason DropReason, c *DirectionCounters) {
	b.verdict[i] = consumed
	b.drop[b.nDrop] = b.vec[i]
	b.nDrop++
	c.Dropped[reason]++
}

// deferStrip leaves INT packet j its INT until the reports are built.
func (b *burst) deferStrip(j int) {
	b.deferred[b.nDeferred&(mbuf.MaxBurst-1)] = uint8(j)
	b.nDeferred++
}

// complete copies what the header cache has of INT packet j to info, and adds what is the
// packet's own. The packet must still have its INT. Most packets leave without it.
func (b *burst) complete(j int) {
	if b.completed>>j&1 == 0 {
		b.copyHeader(j)
	}
}

// completeAll completes all INT packets.
func (b *burst) completeAll() {
	for left := (1<<b.nINT - 1) &^ b.completed; left != 0; left &= left - 1 {
		b.copyHeader(bits.TrailingZeros64(left))
	}
}

// completeDeferred completes the packets deferred[from:nDeferred].
func (b *burst) completeDeferred(from int) {
	for _, j := range b.deferred[from:b.nDeferred] {
		b.complete(int(j))
	}
}

//go:noinline
func (b *burst) copyHeader(j int) {
	i := b.places[j]
	info := &b.info[i]
	*info = *b.header[j]
	info.Complete(b.vec[i].Bytes())
	b.header[j], b.completed = info, b.completed|1<<j
}
