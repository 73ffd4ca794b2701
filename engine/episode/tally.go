// Tally: what packets of one worker add to a record, those of a burst together.

package episode

import "intsink/flows"

// Tally adds up the packets of one worker that crossed a queue whose episode is recorded, since the record took them last: packets of
// flows (own), and packets that the flow table had no room for (others). The record counts the latter and their bytes, and knows the
// senders of a sample alone. It is outside the Go heap: package engine/fast adds to it, too (fast_tally).
type Tally struct {
	queue       [2]uint64
	id, usual   uint32
	own, others sums
	picker

	Run
	wasBytes, wasAdded uint64 // of the record, when the sums began
}

// Run is which packets of flows go on with the episode, and do nothing else to it: package engine/fast counts them alone.
type Run struct {
	Until                  int64  // the episode is over then, unless a packet came
	Left                   uint64 // packets that go on with it before one is to be looked at
	Latencies, Occupancies Interval

	LastLatency, LastOccupancy uint32 // of the last packet that went on with it
	Goes                       bool   // false: none does
	Watch                      uint8  // of the packets
	_                          [6]uint8
}

// Interval is the numbers from Least to Least + Span.
type Interval struct{ Least, Span uint32 }

// Has reports whether x is one of them.
func (i Interval) Has(x uint32) bool { return x-i.Least <= i.Span }

// Takes reports whether a packet of a watch, of now, is one that goes on with the episode. Package engine/fast asks the same (goes_on).
func (q *Tally) Takes(now int64, watch uint8, v *Values) bool {
	return q.Goes && q.Watch == watch && now < q.Until && q.Left > 0 && q.Latencies.Has(v.Latency) && q.Occupancies.Has(v.Occupancy)
}

// ID is the number of the record.
func (q *Tally) ID() uint32 { return q.id }

// Queue is that of the record.
func (q *Tally) Queue() [2]uint64 { return q.queue }

// Packets is how many there are of flows.
func (q *Tally) Packets() uint64 { return q.own.packets() }

// What Drawn.Share says beside the place of a share: the flow has none of the record, or keeps it.
const (
	noShare = flows.MaxShares + iota
	keepsShare
)

// count adds a packet to the sums, and to the share of its flow. It tells whether the record has to take the packet into its sample, and
// which share. Package engine/fast does the same (tally).
func (q *Tally) count(shares *[flows.MaxShares]flows.Share, v *Values) (weight uint64, share uint8) {
	added := v.added(q.usual)
	q.own.add(v, q.usual)
	q.LastLatency, q.LastOccupancy = v.Latency, v.Occupancy
	weight = q.pick()
	if shares == nil {
		return weight, noShare
	}
	for share = range uint8(flows.MaxShares) {
		s := &shares[share]
		if s.Record != q.id {
			continue
		}
		s.Packets++
		s.Bytes += uint64(v.Bytes)
		s.Added += added
		if uint64(s.Packets) >= s.Taken || s.Bytes > q.own.bytes/Unshared || s.Added > q.own.added/Unshared {
			return weight, share
		}
		return weight, keepsShare
	}
	return weight, noShare
}

// Drawn is a packet that a record has to take at once: fast_drawn of package engine/fast.
type Drawn struct {
	Latency, Bytes        uint32
	Place, Packet, Weight uint8 // of the tally; in its burst; for how many it stands in the sample
	Share                 uint8
}

// MaxDrawn is how many of them packets of a burst may give.
const MaxDrawn = 64 * flows.MaxHops
