package flows

// Sizes of a flow's state.
const (
	MaxPaths = 4
	MaxHops  = 8 // hops whose latency is watched; further ones only count in the path
)

// Flow is everything known of one flow: 256 bytes, four cache lines, laid out by
// who needs what: every packet the first two, more than five hops the third. The
// table owns key and times; the rest belongs to engine and engine/event. A new
// flow is all zero but for its key.
type Flow struct {
	Key         Key
	seen        int64 // last packet, Unix nanoseconds
	Watch       uint8 // index of the watch that selects it
	Generation  uint8 // of the rules that Watch belongs to
	Closing     bool  // FIN or RST seen: two seconds of silence end the flow
	NumPaths    uint8 // known, the current one included
	NumHops     uint8
	PathTokens  uint8 // left in the path_change bucket
	_           [2]uint8
	NextRefresh uint32 // when a refresh is due, in units of 2^18 ns; 0: not set yet
	PathSeen    uint32 // Tick of the last packet on the current path

	PathHash uint64 // of the current path
	Packets  uint64
	Windows  uint64       // eight bits a hop, Hops[0] lowest: last packets, newest in bit 0; 1 is out of the deadband
	Hops     [MaxHops]Hop // Hops[:NumHops] are known

	HopSent    [MaxHops]uint32 // microseconds, when hop_latency was last reported; 0: never
	PathRefill int64           // when PathTokens was last brought up to date

	Paths [MaxPaths - 1]Path // Paths[:NumPaths-1]: those that are not current
	Facts uint32             // what Watch depends on besides the key, hashed; 0 where nothing does
	_     [12]uint8
}

// Hop is the reference of one node on the flow's way.
type Hop struct {
	Node uint32
	Ref  uint32 // latency last reported
}

// Path is a path that the flow was on.
type Path struct {
	Hash uint64
	Seen uint32 // Tick
	_    uint32
}

// LastSeen is the time of the flow's last packet in Unix nanoseconds.
func (f *Flow) LastSeen() int64 { return f.seen }

// Window tells which of the last eight latencies of hop i were out of the
// deadband, the newest in bit 0.
func (f *Flow) Window(i int) uint8 { return uint8(f.Windows >> (8 * uint(i) & 63)) }

// SetWindow replaces the window of hop i.
func (f *Flow) SetWindow(i int, w uint8) {
	shift := 8 * uint(i) & 63
	f.Windows = f.Windows&^(0xff<<shift) | uint64(w)<<shift
}

// Tick is a time in units of 2^20 ns, about a millisecond; it wraps after 52
// days.
func Tick(now int64) uint32 { return uint32(now >> 20) }
