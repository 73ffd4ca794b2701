// Burst: one received burst, its bit sets and the stages in which each field is valid; what
// several stages do with one of its packets.

package burst

import (
	"encoding/binary"
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// Verdict is what becomes of one packet of a burst.
type Verdict uint8

const (
	Forward  Verdict = iota
	Consumed         // it is in Burst.Drop
)

// Burst is one received burst on its way through the stages. Two index spaces:
//
//	i  the packet's place in Vec, 0 to N-1, in the order in which packets came
//	j  the packet's number among those with sound INT, 0 to Fast.Len()-1; Fast tells its i
//
// Capitals in front of a comment say in which stages the field is valid: P match or parse, L look
// up and pass, D detect, R report, S strip, T transmit.
// A stage in brackets sets it.
type Burst struct {
	Vec  *mbuf.Vec // PLDRST  Vec[:N] as received; strip moves the start of a frame
	N    int       // PLDRST
	Now  int64     // PLDRST  receive time of the whole burst, Unix nanoseconds
	Kept *mbuf.Vec // T       to transmit, in order, where some packet was dropped
	Drop *mbuf.Vec // PLDRST  Drop[:NDrop] are freed before the burst is transmitted
	Back *mbuf.Vec // T       what comes in the other direction meanwhile

	NDrop     int
	Link      *Served   // PLDRST
	Direction Direction // PLDRST
	Ingress   uint16    // PLDR    watch.IngressOf, of the port that it came by

	// Of the rules in force, from one reload to the next.
	Watched    bool   // there are watches: packets with INT have flows
	Generation uint16 // a flow with another one is matched against the watches again

	// By i.
	Verdict [mbuf.MaxBurst]Verdict       // [P]LDR[S]T
	Why     [mbuf.MaxBurst]DropReason    // [P]LDR[S]T of packets that are consumed
	Layers  [mbuf.MaxBurst]packet.Layers // [P]L[D]RS
	Info    [mbuf.MaxBurst]inthdr.Info   // [P]L[D]RS of packets with INT
	Outers  [mbuf.MaxBurst]inthdr.Outers // [P]L[D]RS of packets whose Info.Depth is not zero

	// By j: Fast has the place in Vec, template, key, hash and flow of packet j.
	Fast    *fast.Path
	Cause   [mbuf.MaxBurst]Cause         // [D]R   why it is reported
	Trigger [mbuf.MaxBurst]event.Trigger // [D]R   of its events & event.Triggered

	known
	left [2 * mbuf.MaxBurst]Left // left[:nLeft]
}

// known is what Clear forgets beside the verdicts. Bit i is that of Vec[i], bit j that of INT
// packet j.
type known struct {
	Parsed     uint64 // [P]L[D]RS i: Layers, Info and Outers are those of the packet
	Doomed     uint64 // PLDR      i: a rule drops the packet once its events are reported
	Change     uint64 //           i: a packet from the host, which tonetwork changes before it leaves
	Fresh      uint64 // [L]D      j: the flow was made for this packet
	Keeps      uint64 // [D]RS     j: the packet keeps its INT until strip
	Reportable uint64 // [D]R      j: Cause and Trigger are those of the packet

	nLeft, told int  // what stages have left in the burst, and how much of that was told
	Aside       bool // PLDRS some aside wants the burst before INT goes, and after
	Unlike      bool // [P]L  some packets were parsed: flows have to be looked up again
}

// New returns a burst without packets.
func New() *Burst {
	return &Burst{Vec: mbuf.NewVec(), Kept: mbuf.NewVec(), Drop: mbuf.NewVec(), Back: mbuf.NewVec()}
}

// Clear forgets what was known of the burst before.
func (b *Burst) Clear() {
	clear(b.Verdict[:])
	b.known = known{}
}

// Arrive counts the packets of b, which link l has received in direction d, and clears what was known of the burst before.
func (b *Burst) Arrive(l *Served, d Direction) {
	l.Counters.Direction[d].Received += uint64(b.N)
	b.Begin(l, d)
}

// Begin is Arrive for a burst that is counted already.
func (b *Burst) Begin(l *Served, d Direction) {
	b.Link, b.Direction, b.Fast, b.Ingress = l, d, l.Fast, watch.IngressOf(l.Index, d == ToNetwork)
	b.Clear()
}

// DoomedOf returns the INT packets among which that a rule drops: a bit each, as in which.
func (b *Burst) DoomedOf(which uint64) (doomed uint64) {
	for left := which; b.Doomed != 0 && left != 0; left &= left - 1 {
		doomed |= b.Doomed >> b.Fast.At[bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)] & 1 << bits.TrailingZeros64(left)
	}
	return doomed
}

// DropPacket takes packet i out of the burst, and counts it.
func (b *Burst) DropPacket(i int, reason DropReason) {
	b.Verdict[i], b.Why[i] = Consumed, reason
	b.Drop[b.NDrop] = b.Vec[i]
	b.NDrop++
	b.Link.Counters.Direction[b.Direction].Dropped[reason]++
}

// Unsound counts packet i, which is marked as INT but cannot be taken as INT, and leaves it to
// report. It passes untouched or is dropped, as the rules of its link say; what comes from a tap
// goes nowhere in any case.
//
//go:noinline
func (b *Burst) Unsound(i int) {
	b.Link.Counters.Malformed[b.Info[i].Reason]++
	l := Left{I: uint8(i), Frame: b.Vec[i], Event: event.Malformed}
	if b.Link.DropMalformed && b.Link.Host != nil {
		b.DropPacket(i, DropMalformed)
		l.Dropped, l.Why = true, DropMalformed
	}
	b.Leave(l)
}

// Congested drops INT packet j, which came in a tunnel that a queue had marked and
// cannot carry the mark itself. The report shows it as it came, but for tunnels that are gone already.
//
//go:noinline
func (b *Burst) Congested(j int) {
	i := b.Fast.At[j]
	b.DropPacket(int(i), DropCongested)
	l := Left{I: i, Frame: b.Vec[i], Event: NoEvent, Dropped: true, Why: DropCongested}
	if b.Watched {
		l.Flow = b.Fast.Flows[j]
	}
	b.Leave(l)
}

// FlowOf returns the flow of each packet by i, nil where it has none.
func (b *Burst) FlowOf() (flowOf [mbuf.MaxBurst]*flows.Flow) {
	if b.Direction == ToHost && b.Watched { // else flows are those of an earlier burst
		for j := range b.Fast.Len() {
			flowOf[b.Fast.At[j]] = b.Fast.Flows[j]
		}
	}
	return flowOf
}

// WithINT returns the INT packets that asides may look at: all, or, where package fast takes INT out of the others, those of flows that are
// marked and those that it has deferred. Nothing is known of those in odd but from their own headers.
func (b *Burst) WithINT() (which, odd uint64) {
	f := b.Fast
	for _, j := range f.Deferred() {
		odd |= 1 << j
	}
	if f.Strips() {
		return odd | f.Kept, odd
	}
	which = 1<<f.Len() - 1
	if b.Unlike || !b.Watched {
		odd = which
	}
	return which, odd
}

// Header returns the INT of packet j. If its bit in Parsed is not set, only the fields that are
// the same for all packets of its template are valid.
func (b *Burst) Header(j uint8) *inthdr.Info {
	if i := b.Fast.At[j&(mbuf.MaxBurst-1)] & (mbuf.MaxBurst - 1); b.Parsed>>i&1 != 0 {
		return &b.Info[i]
	}
	return b.Fast.Info(b.Fast.Template[j&(mbuf.MaxBurst-1)])
}

// KeepLeft makes all packets that were not dropped keep their INT.
func (b *Burst) KeepLeft() {
	b.Keeps = 1<<b.Fast.Len() - 1
	b.LoseDropped()
}

// LoseDropped makes packets that were dropped keep no INT.
func (b *Burst) LoseDropped() {
	if b.NDrop == 0 {
		return
	}
	for j, i := range b.Fast.At[:b.Fast.Len()] {
		if b.Verdict[i] == Consumed {
			b.Keeps &^= 1 << j
		}
	}
}

// Complete fills in Layers and Info of packet j, which still has its INT. Most packets leave
// before they are needed. The first segment becomes as long as that of a packet that was parsed.
func (b *Burst) Complete(j uint8) {
	if i := b.Fast.At[j]; b.Parsed>>i&1 == 0 {
		b.Parsed |= 1 << i
		m := b.Vec[i]
		f := Headers(m)
		b.Fast.Fill(b.Fast.Template[j], f, m.PktLen(), &b.Layers[i], &b.Info[i], &b.Outers[i])
		b.Link.Locator.Again(f, &b.Info[i])
	}
}

// Marked tells whether a queue has marked INT packet j (ECN: CE) in the IP header that comes first: what is inside of a tunnel keeps
// the mark that it had before.
func (b *Burst) Marked(j uint8) bool {
	if at := b.Fast.Template[j]; at != fast.None {
		return b.Fast.IsMarked(at)
	}
	i := b.Fast.At[j]
	l, f := &b.Layers[i], b.Vec[i].Bytes()
	if b.Info[i].Depth > 0 {
		l = &b.Outers[i][0]
	}
	at, shift := int(l.L3), 4*(l.IPVersion>>1&1) // 6 is the version that has the bit
	return at+2 <= len(f) && binary.BigEndian.Uint16(f[at:])>>shift&packet.CE == packet.CE
}

// CountINT counts the INT packets of the burst, but for others, which are counted already.
func (b *Burst) CountINT(others int) {
	c, f := b.Link.Counters, b.Fast
	c.CountTypes(uint64(f.Len()-others), f.Types)
}

// pullupLen is how much of a chained packet is made contiguous when its first
// segment is shorter: the longest headers that the parser reads and the longest INT
// that a shim can claim.
const pullupLen = 1536

// Headers returns the first bytes of m, with all headers that a parser reads if m has them in
// several segments: then these are joined.
func Headers(m *mbuf.Mbuf) []byte {
	m.Pullup(min(pullupLen, m.PktLen()))
	return m.Bytes()
}

// HeadersLen is how many bytes of a packet Headers returns at least.
func HeadersLen(pktLen int) int { return min(pullupLen, pktLen) }
