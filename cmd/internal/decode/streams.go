// sequences: follows the streams of decoded report packets; prints late and missing ones,
// makes gap and stats records.

package decode

import (
	"fmt"
	"io"
	"math"
	"time"

	"intsink/exporters/collect/streams"
	"intsink/exporters/record"
)

// maxStreams bounds the sequences that are accounted for, and maxGaps the ranges that
// are named of each; more are only counted.
const (
	maxStreams = 1 << 16
	maxGaps    = 10
)

// sequences accounts for the sequence numbers of report packets.
type sequences struct {
	table *streams.Table
	gaps  map[streams.Key][]streams.Gap
	gap   func(streams.Gap) // also called with each range that is missing
}

func newSequences() *sequences {
	return &sequences{table: streams.New(maxStreams, maxStreams), gaps: map[streams.Key][]streams.Gap{}}
}

// see takes note of one packet's sequence number. The stream is nil where the packet has
// no header, or there are too many of them.
func (s *sequences) see(g datagram, packet []byte) (st *streams.Stream, place streams.Place) {
	h, ok := streams.ReadHeader(packet)
	if !ok {
		return nil, place
	}
	k := streams.KeyOf(g.from.Addr(), g.to, &h)
	now := g.time.UnixNano()
	times := streams.Times{Arrived: now, Monotonic: now}
	if st = s.table.Find(k, h, times); st == nil {
		return nil, place
	}
	return st, st.See(h, times, s.missing)
}

// missing takes note of a range that is given up.
func (s *sequences) missing(g streams.Gap) {
	if kept := s.gaps[g.Key]; len(kept) <= maxGaps {
		s.gaps[g.Key] = append(kept, g)
	}
	if s.gap != nil {
		s.gap(g)
	}
}

// end gives up all that is missing still.
func (s *sequences) end() { s.table.Expire(math.MaxInt64, s.missing) }

// totals are over all streams.
func (s *sequences) totals() (sum streams.Counts) {
	for _, st := range s.table.Sorted() {
		sum.Lost += st.Lost
		sum.Late += late(st)
		sum.Restarts += st.Restarts
	}
	return sum
}

// late returns how many packets of a stream came behind a higher number, or again.
func late(st *streams.Stream) uint64 { return st.Late + st.Reordered + st.Repeated }

// print names the gaps of every stream that has any.
func (s *sequences) print(w io.Writer) {
	for _, st := range s.table.Sorted() {
		if st.Lost == 0 && st.Unknown == 0 {
			continue
		}
		fmt.Fprintf(w, "node %d hw_id %d from %s to %s: %d lost:", st.Node, st.HwID, st.Exporter, st.Collector, st.Lost)
		for i, g := range s.gaps[st.Key] {
			if i == maxGaps {
				fmt.Fprint(w, " ...")
				break
			}
			first, last := onWire(g.First, st.Version), onWire(g.Last, st.Version)
			if g.Unknown {
				fmt.Fprintf(w, " %d-?", first)
			} else if first == last {
				fmt.Fprintf(w, " %d", first)
			} else {
				fmt.Fprintf(w, " %d-%d", first, last)
			}
		}
		fmt.Fprintln(w)
	}
}

// onWire returns the sequence number as the packet has it: 22 bits in 2.0, 32 before.
func onWire(n uint64, version uint8) uint64 {
	if version == 2 {
		return n & (1<<22 - 1)
	}
	return n & (1<<32 - 1)
}

// gapRecord is what a range that is given up is as a record.
func gapRecord(r *record.Record, g streams.Gap, now time.Time) {
	r.Reset(record.Gap)
	identify(r, g.Key, g.Start, now)
	r.First, r.Last, r.Count = g.First, g.Last, g.Count()
}

// statsRecord is what a stream added up to as a record.
func statsRecord(r *record.Record, st *streams.Stream, now time.Time) {
	r.Reset(record.Stats)
	identify(r, st.Key, st.Start(), now)
	r.Stats = record.StreamStats{Received: st.Received, Lost: st.Lost, Late: late(st), Undecodable: st.Undecodable}
}

func identify(r *record.Record, k streams.Key, start int64, now time.Time) {
	r.Exporter, r.NodeID, r.HwID, r.Start = k.Exporter, k.Node, k.HwID, start
	r.Time, r.Received = now.UnixNano(), now.UnixNano()
	r.Version = [...]record.Version{record.Version05, record.Version10, record.Version20}[k.Version]
	if k.Version > 0 { // 0.5 has it in some reports only
		r.Known |= record.KnownNode
	}
}
