package event

import (
	"encoding/binary"
	"fmt"
	"testing"

	"intsink/engine/wire/inthdr"
)

// askedFor is a packet of hops, the newest first, with the values that an Instruction Bitmap asks for.
func askedFor(bitmap uint16, format inthdr.Format, hops ...values) *Observation {
	layout := inthdr.LayoutOf(bitmap, format)
	var b []byte
	for _, v := range hops {
		hop := make([]byte, layout.HopLen)
		word := func(at int8, w uint32) {
			if at >= 0 {
				binary.BigEndian.PutUint32(hop[at:], w)
			}
		}
		word(layout.NodeID, v.node)
		word(layout.HopLatency, v.latency)
		word(layout.TxUtilization, v.tx)
		if format == inthdr.Format2016 {
			word(layout.Queue, v.queue&0xffffff)
			word(layout.Level2Interfaces, v.queue&0xffffff) // congestion status
			word(layout.Interfaces, v.ports>>16)
			word(layout.EgressTimestamp, v.ports&0xffff)
			b = append(b, hop...)
			continue
		}
		word(layout.Queue, v.queue)
		word(layout.Buffer, v.queue)
		word(layout.Interfaces, v.ports)
		for _, stamp := range []struct {
			at int8
			ns uint64
		}{{layout.IngressTimestamp, v.in}, {layout.EgressTimestamp, v.out}} {
			if stamp.at >= 0 {
				binary.BigEndian.PutUint64(hop[stamp.at:], stamp.ns)
			}
		}
		b = append(b, hop...)
	}
	return &Observation{Frame: b, Layout: &layout, Info: &inthdr.Info{
		Type: inthdr.MD, Format: format, Bitmap: bitmap, HopLen: uint16(layout.HopLen), Hops: uint16(len(hops)), StackLen: uint16(len(b)),
	}}
}

// TestEveryBitmap: with whatever values INT carries, each event is told where its own values are there, and no other
// event is. Of the others Policy.Missing says so.
func TestEveryBitmap(t *testing.T) {
	const (
		node, ports, latency, queue = inthdr.BitNodeID, inthdr.BitLevel1Interfaces, inthdr.BitHopLatency, inthdr.BitQueue
		stamps                      = inthdr.BitIngressTimestamp | inthdr.BitEgressTimestamp
	)
	p := watching(Congestion, TxUtilization, HopLatency, EndToEnd, LinkLatency, PathChange)
	p.Thresholds.Latency.K, p.Thresholds.LinkLatency.K, p.Thresholds.EndToEnd.K = 1, 1, 1
	hops := func(late, linked uint64, occupancy, tx uint32) []values {
		return []values{
			{node: 8, ports: 0x30004, queue: 1<<24 | occupancy, latency: uint32(late), in: 5_001_000 + linked, out: 5_001_000 + linked + late, tx: tx},
			{node: 7, ports: 0x10002, queue: 1<<24 | 10, latency: 1000, in: 4_999_000, out: 5_000_000, tx: 10},
		}
	}
	for bits := range uint16(1 << 9) {
		bitmap := bits << 7
		has := func(asked uint16) bool { return bitmap&asked == asked }
		t.Run(fmt.Sprintf("%04x", bitmap), func(t *testing.T) {
			want := Set(0)
			told := has(latency) || has(stamps)
			for e, there := range map[Event]bool{
				Congestion: has(node) && (has(queue) || has(inthdr.BitBuffer)), TxUtilization: has(node | ports | inthdr.BitTxUtilization), LinkLatency: has(node | ports | stamps),
				HopLatency: has(node) && told, EndToEnd: told,
			} {
				if there {
					want |= e.Set()
				}
			}
			missing, layout := Set(0), inthdr.LayoutOf(bitmap, inthdr.Format2)
			for _, events := range p.Missing(&layout, false) {
				missing |= events
			}
			if possible := want | PathChange.Set()*Set(bitmap>>15); missing != p.Events&^possible {
				t.Errorf("missing are %b, want %b", missing, p.Events&^possible)
			}
			f := start(t, p)
			defer f.d.Close()
			f.observed(0, askedFor(bitmap, inthdr.Format2, hops(1000, 0, 10, 10)...), 0)
			for range 4 {
				if got := f.look(ms, askedFor(bitmap, inthdr.Format2, hops(1000, 0, 10, 10)...)); got != 0 {
					t.Errorf("nothing new: %b", got)
				}
			}
			if got := f.look(second, askedFor(bitmap, inthdr.Format2, hops(900_000, 2_000_000, 9000, 95)...)); got != want {
				t.Errorf("all values over their thresholds: %b, want %b", got, want)
			}
			other := hops(900_000, 2_000_000, 9000, 95)
			other[1].node = 9
			if got := f.look(second, askedFor(bitmap, inthdr.Format2, other...)).Has(PathChange); got != has(node) {
				t.Errorf("another node: path_change %v", got)
			}
		})
	}
}

// TestWhatStandsForAQueue: where INT says nothing of queues, the episode is of the buffer, named by its number and
// compared in its own unit, or of what has the congestion status. Where it tells both, the queue counts; the row has all.
func TestWhatStandsForAQueue(t *testing.T) {
	const node, ports, queue, buffer, status = inthdr.BitNodeID, inthdr.BitLevel1Interfaces, inthdr.BitQueue, inthdr.BitBuffer, 1 << 9
	none := nothingElse
	for _, c := range []struct {
		bitmap uint16
		format inthdr.Format
		want   uint32 // occupancy
		number uint64
		rest   inthdr.Rest
	}{
		{node | ports | queue, inthdr.Format2, 3 * 9000, 5, none},
		{node | ports | buffer, inthdr.Format2, 4 * 9000, 5, inthdr.Rest{Buffer: 5, BufferOccupancy: 4 * 9000, Congestion: unknown32}},
		{node | ports | queue | buffer, inthdr.Format2, 3 * 9000, 5, inthdr.Rest{Buffer: 5, BufferOccupancy: 4 * 9000, Congestion: unknown32}},
		{node | ports | buffer, inthdr.Format1, 0, 0, none}, // bit 8 of INT 1.0 is the checksum complement
		{node | ports | 1<<10 | status, inthdr.Format2016, 9000, 255, inthdr.Rest{Buffer: unknown32, BufferOccupancy: unknown32, Congestion: 9000}},
		{node | ports | 1<<10 | status | queue, inthdr.Format2016, 3 * 9000, 255, inthdr.Rest{Buffer: unknown32, BufferOccupancy: unknown32, Congestion: 9000}},
	} {
		f := modelled(t, watching(Congestion), NodeModel{QueueUnit: 3, BufferUnit: 4})
		at := func(occupancy uint32) *Observation {
			return askedFor(c.bitmap, c.format, values{node: 7, ports: 0x10002, queue: 5<<24 | occupancy})
		}
		f.observed(0, at(10), 0)
		if got := f.look(ms, at(9000)); got.Has(Congestion) != (c.want != 0) {
			t.Errorf("%04x of format %d: %b", c.bitmap, c.format, got)
		}
		if q := f.d.fabric.Queues.Find([2]uint64{7<<32 | 2, c.number}); c.want != 0 && (q == nil || q.Occupancy != c.want || q.Rest != c.rest || !q.Congested) {
			t.Errorf("%04x of format %d: the row of the queue is %+v, want occupancy %d and %+v", c.bitmap, c.format, q, c.want, c.rest)
		}
		f.d.Close()
	}
}

// TestNodesAlone of the format of June 2016: paths and queues without ports.
func TestNodesAlone(t *testing.T) {
	const congestionStatus = 1 << 9
	for _, bitmap := range []uint16{0x8000, 0x9000, 0xd000, 0x9400, 0xc600, 0x8200} {
		f := start(t, watching(PathChange, Congestion))
		at := func(node, occupancy uint32) *Observation {
			return askedFor(bitmap, inthdr.Format2016, values{node: node, ports: 0x10002, queue: occupancy})
		}
		f.observed(0, at(7, 10), 0)
		f.observed(ms, at(7, 10), 0)
		f.observed(ms, at(8, 10), PathChange.Set())
		f.observed(ms, at(7, 10), 0) // known
		// Bit 1 alone is half of the interfaces: without the egress port queues are told apart by their nodes.
		congested := Set(0)
		if bitmap&(inthdr.BitQueue|congestionStatus) != 0 {
			congested = Congestion.Set()
		}
		f.observed(ms, at(7, 9000), congested)
		f.d.Close()
	}
}

// TestLatencyOfTimestamps is in the units of the node, and no value where a timestamp is unknown or they run backwards.
func TestLatencyOfTimestamps(t *testing.T) {
	p := watching(HopLatency)
	p.Thresholds.Latency.K = 1
	f := modelled(t, p, NodeModel{TimestampBits: 32, TimestampUnit: 8})
	defer f.d.Close()
	at := func(in, out uint64) *Observation {
		return askedFor(0x8c00, inthdr.Format2, values{node: 7, in: in, out: out})
	}
	f.observed(0, at(1000, 2000), 0)
	f.observed(ms, at(5000, 6001), 0)
	f.observed(ms, at(5000, 5000+4000), HopLatency.Set())
	if got := f.d.Trigger; got.Reference != 8000 || got.Value != 32_000 {
		t.Errorf("trigger %+v", got)
	}
	f.observed(second, at(unknown64, 9_000_000), 0)
	f.observed(second, at(0, unknown64), 0)
	f.observed(second, at(9_000_000, 1000), 0)
	f.observed(second, at(1<<32-1000, 3000), 0) // it wraps
}

// TestLackingValues: of each new flow, what its INT does not carry and a watched event needs, once.
func TestLackingValues(t *testing.T) {
	for _, c := range []struct {
		bitmap uint16
		format inthdr.Format
		events []Event
		want   [NumLacking]uint64
	}{
		{0xfd00, inthdr.Format2, []Event{PathChange, HopLatency, EndToEnd, LinkLatency, Congestion, TxUtilization}, [NumLacking]uint64{}},
		{0x9000, inthdr.Format2, []Event{PathChange, Congestion}, [NumLacking]uint64{}},
		{0x9000, inthdr.Format2, []Event{HopLatency, LinkLatency, TxUtilization}, [NumLacking]uint64{0, 1, 1, 0, 1, 1}},
		{0x8c00, inthdr.Format2, []Event{HopLatency, EndToEnd, Congestion}, [NumLacking]uint64{LacksQueue: 1}},
		{0x2000, inthdr.Format2, []Event{PathChange, EndToEnd}, [NumLacking]uint64{LacksNode: 1}},
		{0x8080, inthdr.Format2, []Event{Congestion}, [NumLacking]uint64{}},
		{0x8200, inthdr.Format2016, []Event{Congestion}, [NumLacking]uint64{}},
		{0x8080, inthdr.Format1, []Event{Congestion}, [NumLacking]uint64{LacksQueue: 1}},
		{0x2000, inthdr.Format2, []Event{NewFlow, EndToEnd}, [NumLacking]uint64{}},
		{0x9400, inthdr.Format2016, []Event{PathChange, TxUtilization, LinkLatency}, [NumLacking]uint64{LacksTimestamps: 1, LacksTxUtilization: 1}},
	} {
		f := start(t, watching(c.events...))
		for range 2 {
			f.look(ms, askedFor(c.bitmap, c.format, values{node: 7, ports: 0x10002, in: 1, out: 2}))
		}
		if f.d.Counters.Lacking != c.want {
			t.Errorf("%04x: %v, want %v", c.bitmap, f.d.Counters.Lacking, c.want)
		}
		f.d.Close()
	}
}

// TestNodesAloneAreNoEvidence: of a flow whose path has interfaces, packets without them tell no path, whether or not the path is
// stored for package fast; of one whose path has none they do.
func TestNodesAloneAreNoEvidence(t *testing.T) {
	for format, bitmaps := range map[inthdr.Format][2]uint16{inthdr.Format2: {0xe000, 0xa000}, inthdr.Format2016: {0xc400, 0x8000}} {
		f := start(t, watching(PathChange))
		at := func(bitmap uint16, node uint32) *Observation {
			o := askedFor(bitmap, format, values{node: node, ports: 0x10002})
			o.Common = true
			return o
		}
		for n, step := range []struct {
			bitmap uint16
			node   uint32
			want   Set
		}{
			{bitmaps[0], 7, 0}, {bitmaps[1], 7, 0}, {bitmaps[1], 8, 0}, {bitmaps[0], 7, 0}, {bitmaps[0], 8, PathChange.Set()}, {bitmaps[1], 9, 0},
		} {
			if f.observed(ms, at(step.bitmap, step.node), step.want); n%2 == 0 {
				Unstore(&f.f)
			}
		}
		f.d.Close()
		f = start(t, watching(PathChange))
		f.observed(0, at(bitmaps[1], 7), 0)
		Unstore(&f.f)
		f.observed(ms, at(bitmaps[1], 8), PathChange.Set())
		Unstore(&f.f)
		f.observed(ms, at(bitmaps[0], 8), PathChange.Set())
		Unstore(&f.f)
		f.observed(ms, at(bitmaps[1], 9), 0)
		f.d.Close()
	}
}
