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
	forward  verdict = iota // as it is
	consumed                // dropped; stands in burst.drop
)

// burst is one received burst on its way through the stages. Entries [0,n)
// are valid; everything indexed by packet uses the packet's place in vec.
type burst struct {
	vec  *mbuf.Vec // vec[:n] as received
	n    int
	now  int64     // receive time of the whole burst, Unix nanoseconds
	tx   *mbuf.Vec // to transmit, in order
	drop *mbuf.Vec // drop[:nDrop] are freed at the end of the burst
	back *mbuf.Vec // what comes in the other direction while this burst is transmitted

	nDrop int

	verdict [mbuf.MaxBurst]verdict
	layers  [mbuf.MaxBurst]packet.Layers // of packets whose Info.UDPv4 is set, only once something is to be said of them
	info    [mbuf.MaxBurst]inthdr.Info   // of packets with INT, once they are in full
	outers  [mbuf.MaxBurst]inthdr.Outers // of packets whose Info.Depth is not zero

	// INT packets with sound headers, compact: int[:nINT] are their places in vec.
	places     [mbuf.MaxBurst]uint8
	nINT       int
	header     [mbuf.MaxBurst]*inthdr.Info // what INT of packet int[j] says: its info or, without bit j in full, what inthdr.HeaderCache knows
	completed  uint64                      // bit j: info of packet int[j] is filled
	deferred   [mbuf.MaxBurst]uint8        // rest[:nRest] are those j whose INT detect has left in place
	nDeferred  int
	keys       [mbuf.MaxBurst]flows.Key // keys[j] belongs to packet int[j], as do the rest
	hashes     [mbuf.MaxBurst]uint64
	flow       [mbuf.MaxBurst]*flows.Flow
	unkeyed    uint64 // bit j: parse has not made keys[j] and hashes[j]
	fresh      uint64 // bit j: the flow was made for this packet
	reportable uint64 // bit j: events[j] is not empty, and valid
	events     [mbuf.MaxBurst]event.Set
	watch      [mbuf.MaxBurst]uint8         // of events[j]: a later packet may give its flow another one, or none
	trigger    [mbuf.MaxBurst]event.Trigger // of events[j] & event.Triggered
	edges      uint64                       // bit j: event.Congestion of events[j] is an onset or a clear
}

func newBurst() *burst {
	return &burst{vec: mbuf.NewVec(), tx: mbuf.NewVec(), drop: mbuf.NewVec(), back: mbuf.NewVec()}
}

func (b *burst) dropPacket(i int, reason DropReason, c *DirectionCounters) {
	b.verdict[i] = consumed
	b.drop[b.nDrop] = b.vec[i]
	b.nDrop++
	c.Dropped[reason]++
}

// deferStrip makes packet int[j] one that keeps its INT until the reports are built.
func (b *burst) deferStrip(j int) {
	b.deferred[b.nDeferred&(mbuf.MaxBurst-1)] = uint8(j)
	b.nDeferred++
}

// complete makes info of packet int[j], which has its INT, that of the packet. Most packets
// have come and gone before anybody asks for it.
func (b *burst) complete(j int) {
	if b.completed>>j&1 == 0 {
		b.copyHeader(j)
	}
}

// completeAll is fill for all packets, which have their INT.
func (b *burst) completeAll() {
	for left := (1<<b.nINT - 1) &^ b.completed; left != 0; left &= left - 1 {
		b.copyHeader(bits.TrailingZeros64(left))
	}
}

// completeDeferred is fill for the packets rest[from:b.nRest], which have theirs.
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
