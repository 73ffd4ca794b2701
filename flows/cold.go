// Declares Cold and Loss, the state that few flows have: other paths, report times, suppressed and
// shed counts, sequence numbers and their holes; finds, makes and frees it.

package flows

// Cold is what few flows ever have: those with events of their own. It stands in
// memory that is not touched, and takes none, before a flow needs it.
type Cold struct {
	Shares [MaxShares]Share // of queues in an episode that the flow passes; package engine/fast writes them, too
	Again  Again            // of engine/fast alone
	Marked uint64           // packets that came with the mark of a queue (ECN: CE)

	Paths      [MaxPaths - 1]Path // Paths[:NumPaths-1]: those that are not current
	PathTokens int64              // left in the path_change bucket
	PathRefill int64              // when it was last brought up to date; 0: never
	Spray      Spray              // of the changes of path
	HopSent    [MaxHops]int64     // when hop_latency was last reported, Unix nanoseconds; 0: never
	EndSent    int64              // the same of end_to_end

	HopLimitSeen int64  // when the last packet with the E flag came; 0: never
	MTUSeen      int64  // the same of the M flag
	packetsHigh  uint32 // upper half of the packet count
	bytesHigh    uint32 // the same of the bytes

	Suppressed uint32 // events that a limit withheld
	Shed       uint32 // reports that no collector got, for their budgets
	Lost       uint32 // sequence numbers that never came
	Drops      uint32 // packets of the flow that the sink dropped
	Change     uint32 // set of the last report that told of a change
	ChangeAt   int64  // when it was made, Unix nanoseconds; 0: none was
	Dropped    [DropLimits]DropLimit
}

// MaxShares is how many queues in an episode a flow has shares of at once.
const MaxShares = 2

// Share is what the packets of a flow in one episode of a queue came to since its record last took them.
type Share struct {
	Record  uint32 // number of the record; 0: none
	Packets uint32
	Bytes   uint64
	Added   uint64 // by how much they were longer in the queue than is usual, nanoseconds
	Taken   uint64 // packets that the record has
}

// Again says in which episode package engine/fast has counted the flow's last packet, and which queues that packet crossed. If the next
// packet crosses the same queues, package fast counts it there without looking them up.
type Again struct {
	Epoch             uint32         // event.FastView's then; it begins with 1
	Hop, Place, Share uint8          // the one hop with a full queue; of its tally; of the flow's shares
	Watch             uint8          // of the flow then
	Path              uint64         // Flow.PathHash then
	Queues            [MaxHops]uint8 // of all hops, in the order of the packet
}

// Spray tells whether the flow's packets are sprayed over several paths, by its changes from one to another: see package event.
type Spray struct {
	At      int64  // the last one, Unix nanoseconds; 0: there was none
	packets uint32 // of the flow by then, lower half
	Change  uint16 // how many there were; it wraps
	Quick   uint8  // how many in a row came soon, up to what makes the flow sprayed
	More    bool   // there are more paths than it remembers
}

// Since returns how many packets of f, the flow of s, came after the last change; those of 2^32 wrap.
func (s *Spray) Since(f *Flow) uint32 { return f.packets - s.packets }

// Moved takes up that f, the flow of s, changes its path.
func (s *Spray) Moved(now int64, f *Flow) {
	s.At, s.packets = now, f.packets
	s.Change++
}

// DropLimits are the limits of a flow's reports of dropped packets: one for each of its first two reasons, and one for
// all others together.
const DropLimits = 3

// DropLimit limits the reports of packets that were dropped for one reason.
type DropLimit struct {
	Sent   int64  // when one was last reported; 0: never
	Since  uint32 // drops since then
	Reason uint8  // plus one; 0: free
}

// DropLimit returns the limit of a reason.
func (c *Cold) DropLimit(reason uint8) *DropLimit {
	for i := range c.Dropped[:DropLimits-1] {
		l := &c.Dropped[i]
		if l.Reason == 0 {
			l.Reason = reason + 1
		}
		if l.Reason == reason+1 {
			return l
		}
	}
	return &c.Dropped[DropLimits-1]
}

// Cold returns the flow's rarely needed state, all zero the first time.
func (f *Flow) Cold() *Cold {
	if f.flags&hasCold == 0 {
		f.clearCold()
	}
	return f.cold
}

// HasCold reports whether Cold has been called for this flow.
func (f *Flow) HasCold() bool { return f.flags&hasCold != 0 }

//go:noinline
func (f *Flow) clearCold() {
	if f.cold == nil { // a flow outside a table
		f.cold = new(Cold)
	}
	*f.cold = Cold{}
	f.flags |= hasCold
}

// LossWindow is how many sequence numbers behind the highest are remembered one by one.
const LossWindow = 1024

// LossHoles is how many runs of missing numbers are timed at once.
const LossHoles = 16

// Loss follows the sequence numbers of one flow.
type Loss struct {
	Top      uint64 // highest number seen
	Seen     [LossWindow / 64]uint64
	Holes    [LossHoles]Hole // Holes[:NumHoles], oldest first
	NumHoles int
	Sent     int64  // when a loss was last reported
	Pending  uint32 // lost and not reported yet
	Reported uint32 // of the last report
	Listed   bool   // it is in the detector's list of flows with holes
	Anew     bool   // the next number is the first of a sequence

	Lost, Reordered, Duplicates, Restarts uint64
}

// Hole is a run of numbers that are missing.
type Hole struct {
	First   uint64
	Length  uint32
	Missing uint32
	At      int64 // when it was found
}

// Loss returns the flow's sequence state; fresh: this is the first call, and it is all zero.
func (f *Flow) Loss() (l *Loss, fresh bool) {
	if f.flags&hasLoss != 0 {
		return f.loss, false
	}
	if f.loss == nil {
		f.loss = new(Loss)
	}
	*f.loss = Loss{}
	f.flags |= hasLoss
	return f.loss, true
}

// MissedPackets makes the flow's next sequence number a first one: the numbers between it and the
// last one were not seen by the sink, and do not count as lost.
func (f *Flow) MissedPackets() {
	if f.flags&hasLoss != 0 {
		f.loss.Anew, f.loss.NumHoles = true, 0
	}
}

// HasLoss reports whether Loss has been called for this flow.
func (f *Flow) HasLoss() bool { return f.flags&hasLoss != 0 }
