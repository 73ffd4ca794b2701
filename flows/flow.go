package flows

// Sizes of a flow's state.
const (
	MaxPaths = 4
	MaxHops  = 8 // hops whose latency is watched; further ones only count in the path
)

// Flow is everything known of one flow: 256 bytes, four cache lines, laid out by
// who needs what: every packet the first three, more than four hops the last. The
// table owns key and times; the rest belongs to engine and engine/event. A new
// flow is all zero but for its key.
type Flow struct {
	Key         Key
	seen        int64 // last packet, Unix nanoseconds
	Watch       uint8 // index of the watch that selects it
	Generation  uint8 // of the rules that Watch belongs to
	Closing     bool  // FIN or RST seen: two seconds of silence end the flow
	NumPaths    uint8
	Path        uint8 // index of the current path
	NumHops     uint8
	PathTokens  uint8 // left in the path_change bucket
	_           uint8
	NextRefresh int64 // when a refresh is due

	Packets    uint64
	PathRefill int64 // when PathTokens was last brought up to date
	PathHash   [MaxPaths]uint64
	PathSeen   [MaxPaths]uint32 // Tick

	Hops [MaxHops]Hop // Hops[:NumHops] are known
}

// Hop is what is remembered of one node on the flow's way.
type Hop struct {
	Node   uint32
	Ref    uint32 // reported latency
	Sent   uint32 // microseconds, when hop_latency was last reported; 0: never
	Window uint8  // last packets, newest in bit 0: 1 is out of the deadband
	_      [3]uint8
}

// LastSeen is the time of the flow's last packet in Unix nanoseconds.
func (f *Flow) LastSeen() int64 { return f.seen }

// Tick is a time in units of 2^20 ns, about a millisecond; it wraps after 52
// days.
func Tick(now int64) uint32 { return uint32(now >> 20) }
