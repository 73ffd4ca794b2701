// Declares Flow: the state of one flow in five cache lines, its flags and windows; counts
// packets and bytes; times as 32-bit ticks.

package flows

import "math/bits"

// Sizes of a flow's state.
const (
	MaxPaths = 16
	MaxHops  = 16 // hops whose latency is watched; further ones only count in the path
)

// Flow is the state of one flow that most packets read: 320 bytes, five cache lines. Every
// packet reads the first line and writes the second; packets of more than three hops read
// the next. State that few flows have is in Cold. The table owns key and times; the rest belongs to engine and engine/event. A
// new flow is all zero but for its key.
type Flow struct {
	Key         Key
	Generation  uint16 // of the rules that Watch belongs to
	Watch       uint8  // index of the watch that selects it
	flags       uint8  // these three are compared at once
	NumPaths    uint8  // known, the current one included
	NumHops     uint8
	PathHops    uint8  // hops of the current path where Hops begins with them, word for word, with flags of package event; else none
	EndWindow   uint8  // window of the end-to-end latency
	NextRefresh uint32 // when a refresh is due, in units of 2^RefreshShift ns; 0: not set yet
	Facts       uint32 // what Watch depends on besides the key, hashed; 0 where nothing does
	LastReport  uint32 // Tick of the last report but that of new_flow alone; 0: none
	LastEvents  uint32 // set of that report

	seen     int64 // last packet, Unix nanoseconds
	packets  uint32
	bytes    uint32
	PathSeen uint32       // Tick of the last packet on the current path
	EndRef   uint32       // end-to-end latency last reported, where EndKnown
	Hops     [MaxHops]Hop // Hops[:NumHops] are known

	PathHash uint64    // of the current path
	windows  [2]uint64 // eight bits a hop: last packets, newest in bit 0; 1 is out of the deadband; of a removed flow, see nextFree
	cold     *Cold
	loss     *Loss
}

// Flags of a flow.
const (
	unsettled = 1 << iota // some window is not zero
	hasCold               // cold has been used for this flow
	hasLoss
	endKnown
	never   // never set
	closing // FIN or RST seen
	held    // an earlier packet of the burst is not settled yet
	suspect // a rule of mitigation may select its packets, or a capture
)

// Hop is the reference of one node on the flow's way. Ids are as a little endian load
// finds them on the wire.
type Hop struct {
	Node       uint32
	Interfaces uint32 // both level-1 ids, of the hops that Flow.PathHops counts; 0 of a path that has none
	Ref        uint32 // latency last reported
}

// ID returns the node's id.
func (h *Hop) ID() uint32 { return bits.ReverseBytes32(h.Node) }

// Path is a path that the flow was on.
type Path struct {
	Hash uint64
	left uint64 // when, and at which change of paths: LeftPath
}

// LeftPath is a path that a flow was on last at a LongTick, and left with that change of paths.
func LeftPath(hash uint64, tick int64, change uint16) Path {
	return Path{hash, uint64(tick)<<16 | uint64(change)}
}

// Seen returns when the flow was on the path last, as a LongTick.
func (p Path) Seen() int64 { return int64(p.left) >> 16 }

// Change returns the change of paths that the flow left it with; it wraps.
func (p Path) Change() uint16 { return uint16(p.left) }

// LastSeen returns the time of the flow's last packet in Unix nanoseconds.
func (f *Flow) LastSeen() int64 { return f.seen }

// Close is to be called with the flow's FIN or RST: two seconds of silence end it then.
func (f *Flow) Close() { f.flags |= closing }

// Closing reports whether Close was called.
func (f *Flow) Closing() bool { return f.flags&closing != 0 }

// Hold is to be called with a packet that is looked at later than others of its burst:
// those of its flow then wait, too, until Release.
func (f *Flow) Hold() { f.flags |= held }

// Release ends what Hold began.
func (f *Flow) Release() { f.flags &^= held }

// Held reports whether Hold was called, and Release was not.
func (f *Flow) Held() bool { return f.flags&held != 0 }

// SetSuspect says whether a rule of mitigation or a capture may select packets of the flow: then they keep their INT
// until it was asked.
func (f *Flow) SetSuspect(is bool) {
	f.flags &^= suspect
	if is {
		f.flags |= suspect
	}
}

// Suspect reports whether it may.
func (f *Flow) Suspect() bool { return f.flags&suspect != 0 }

// Count adds one packet of n bytes to the flow's totals.
func (f *Flow) Count(n uint16) {
	f.packets++
	if f.bytes += uint32(n); f.packets == 0 || f.bytes < uint32(n) {
		f.carry(n)
	}
}

// Full reports whether Count of n bytes is more than the Flow itself has room for.
func (f *Flow) Full(n uint16) bool { return f.packets == 1<<32-1 || f.bytes+uint32(n) < f.bytes }

//go:noinline
func (f *Flow) carry(n uint16) {
	c := f.Cold()
	if f.packets == 0 {
		c.packetsHigh++
	}
	if f.bytes < uint32(n) {
		c.bytesHigh++
	}
}

// Totals returns the packets and bytes of the flow so far.
func (f *Flow) Totals() (packets, bytes uint64) {
	packets, bytes = uint64(f.packets), uint64(f.bytes)
	if f.flags&hasCold != 0 {
		packets += uint64(f.cold.packetsHigh) << 32
		bytes += uint64(f.cold.bytesHigh) << 32
	}
	return packets, bytes
}

// Want is the flags that Settled compares: no window has a bit set, and EndRef is known
// where end_to_end is watched.
type Want uint8

const (
	EndToEnd Want = endKnown         // EndRef is known
	Never    Want = endKnown | never // no flow is settled
)

// Mask is what Settled looks at.
func (w Want) Mask() uint8 { return unsettled | never | uint8(w) }

// Settled reports whether the flags of f are as w wants; mask is w.Mask().
func (f *Flow) Settled(w Want, mask uint8) bool { return f.flags&mask == uint8(w) }

// Window tells which of the last eight latencies of hop i were out of the
// deadband, the newest in bit 0.
func (f *Flow) Window(i int) uint8 { return uint8(f.windows[i>>3&1] >> (uint(i) & 7 * 8)) }

// SetWindow replaces the window of hop i.
func (f *Flow) SetWindow(i int, w uint8) {
	word, shift := &f.windows[i>>3&1], uint(i)&7*8
	*word = *word&^(0xff<<shift) | uint64(w)<<shift
	f.settle()
}

// SetEndWindow replaces the window of the end-to-end latency.
func (f *Flow) SetEndWindow(w uint8) {
	f.EndWindow = w
	f.settle()
}

func (f *Flow) settle() {
	f.flags &^= unsettled
	if f.windows[0]|f.windows[1]|uint64(f.EndWindow) != 0 {
		f.flags |= unsettled
	}
}

// EndKnown reports whether EndRef is valid.
func (f *Flow) EndKnown() bool { return f.flags&endKnown != 0 }

// SetEndRef makes x the reference of the end-to-end latency.
func (f *Flow) SetEndRef(x uint32) { f.EndRef, f.flags = x, f.flags|endKnown }

// Tick returns a time in units of 2^TickShift ns, about a millisecond; it wraps after 52 days.
func Tick(now int64) uint32 { return uint32(now >> TickShift) }

// TickShift makes a Tick of nanoseconds.
const TickShift = 20

// LongTick returns a Tick of the last 52 days, as seen at now, as a number that does not wrap.
func LongTick(now int64, tick uint32) int64 { return now>>20 - int64(Tick(now)-tick) }

// Since turns a Tick of the last 52 days into Unix nanoseconds, as seen at now: whole
// milliseconds, one or two exact, and never after now.
func Since(now int64, tick uint32) int64 { return SinceLong(now, LongTick(now, tick)) }

// SinceLong is Since of a LongTick.
func SinceLong(now, tick int64) int64 {
	t := now - (now>>20-tick)<<20
	return t - t%1e6
}

// RefreshShift makes nanoseconds units of NextRefresh: about a quarter of a
// millisecond.
const RefreshShift = 18

// RefreshDue returns when the flow's next refresh is due, as seen at now; 0: not set yet.
func (f *Flow) RefreshDue(now int64) int64 {
	if f.NextRefresh == 0 {
		return 0
	}
	return now + int64(int32(f.NextRefresh-uint32(now>>RefreshShift)))<<RefreshShift
}
