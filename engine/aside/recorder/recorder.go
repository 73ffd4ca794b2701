// Package recorder is a flight recorder: it keeps the last packets that were reported, or passed a queue with an open
// episode, as they came, with all of their INT, in memory of a fixed size. A worker writes, and takes no lock for it; any
// goroutine may read. Bursts without such packets do not reach it.
//
//	recorder.go  which packets are kept, and what of them
//	share.go     how much of the memory kinds of events and flows may have
//	ring.go      the memory
//	reader.go    reads it while the worker writes
package recorder

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside/capture"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/metric"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
)

// Bytes that are kept of a packet: Snap, or all INT and Behind bytes of headers behind it where that is more, but never more
// than Most. Of what is no sound INT it is not known where it ends: such packets are kept up to Most.
const (
	Snap   = 192
	Behind = 64
	Most   = 1536
)

// Refusal says why a packet was left out. The list is closed: it generates metric labels.
type Refusal uint8

const (
	RefusedShare Refusal = iota // packets of its kind have had their share of the memory
	RefusedFlow                 // packets of its flow have
	NumRefusals
)

// String is the value of the reason label.
func (r Refusal) String() string { return [NumRefusals]string{"share", "flow"}[r] }

// Counters are those of one worker.
type Counters struct {
	Packets uint64 // that were recorded
	LeftOut [NumRefusals]uint64
}

// Metrics are those of all workers together.
var Metrics = []metric.Of[Counters]{
	{Name: "intsink_recorder_packets_total", Help: "packets that the flight recorder has taken: reported ones, and those of queues in an episode", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.Packets)
	}},
	{Name: "intsink_recorder_left_out_packets_total", Help: "packets that the recorder left out, because their kind of event or their flow has had its share of the memory", Samples: func(c *Counters, to metric.Samples) {
		for r, n := range c.LeftOut {
			to.Add(n, "reason", Refusal(r))
		}
	}},
}

// Recorder is that of one worker. Its worker calls all methods but Read, Reach and On.
type Recorder struct {
	counters *Counters
	detector *event.Detector
	watches  []watch.Watch
	share    *share
	ring     *ring // nil: the recorder is off

	record capture.Record
}

// New makes the recorder of the worker with this detector, with so many bytes of memory, which are taken when they are first
// written; 0: it is off. It began at now.
func New(memory int, now int64, detector *event.Detector, counters *Counters) *Recorder {
	r := &Recorder{counters: counters, detector: detector}
	if memory > 0 {
		r.ring = newRing(memory, now)
		r.share = newShare(r.ring.usable())
	}
	return r
}

// Close gives the memory back. Nobody may read any more.
func (r *Recorder) Close() {
	if r.ring != nil {
		r.ring.close()
	}
}

// Adopt makes watches those of the rules in force.
func (r *Recorder) Adopt(watches []watch.Watch) { r.watches = watches }

// Burst takes the packets of b that are reported, or passed a queue with an open episode: they still have their INT.
//
//go:noinline
func (r *Recorder) Burst(b *burst.Burst) {
	met, episodes := r.detector.Met()
	r.detector.ForgetMet()
	if r.ring == nil {
		return
	}
	view := r.detector.View()
	if gone := met & b.Fast.Tallied; view.Records == 0 && gone != 0 {
		r.counters.LeftOut[RefusedShare] += uint64(bits.OnesCount64(gone))
		met &^= gone
	}
	for left := b.Reportable | met; left != 0; {
		rest := b.Alike(left)
		kind := kindOf(b.Cause[bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)])
		open := r.share.open(kind, b.Now)
		for run := left &^ rest; run != 0; run &= run - 1 {
			if !open {
				r.counters.LeftOut[RefusedShare] += uint64(bits.OnesCount64(run))
				break
			}
			j := bits.TrailingZeros64(run) & (mbuf.MaxBurst - 1)
			if !r.share.flowMay(b.Fast.Hashes[j], b.Now) {
				r.counters.LeftOut[RefusedFlow]++
				continue
			}
			episode := uint32(0)
			if met>>j&1 != 0 {
				episode = episodes[j]
			}
			r.packet(b, j, kind, episode)
			open = r.share.open(kind, b.Now)
		}
		left = rest
	}
	r.ring.publish()
	if view.Records = 0; r.share.open(classEpisode, b.Now) {
		view.Records = 1
	}
}

// packet takes INT packet j of b, if its kind has enough of its share left.
//
//go:noinline
func (r *Recorder) packet(b *burst.Burst, j int, kind event.Priority, episode uint32) {
	info := b.Header(uint8(j))
	m := b.Vec[b.Fast.At[j]]
	n := min(m.PktLen(), max(Snap, min(int(info.End)+Behind, Most)))
	r.record.Watch = ""
	if f := b.Fast.Flows[j]; f != nil && int(f.Watch) < len(r.watches) {
		r.record.Watch = r.watches[f.Watch].Name
	}
	r.record.Events, r.record.Malformed = b.Cause[j].Set(), info.Reason
	r.record.Out, r.record.Dropped, r.record.Reason = false, b.DoomedOf(1<<j) != 0, 0
	if r.record.Dropped {
		r.record.Reason = uint8(burst.DropRule)
	}
	r.take(b, m, n, kind, episode)
}

// Left takes a packet that some stage has left in b, and is reported for the events of set.
func (r *Recorder) Left(b *burst.Burst, set event.Set, l *burst.Left) {
	if r.ring == nil {
		return
	}
	x := &r.record
	x.Watch, x.Events, x.Malformed = "", set, inthdr.ReasonNone
	if f := l.Flow; f != nil && int(f.Watch) < len(r.watches) {
		x.Watch = r.watches[f.Watch].Name
	}
	if l.Event == event.Malformed {
		x.Malformed = b.Info[l.I].Reason
	}
	x.Dropped, x.Reason, x.Out = l.Dropped, uint8(l.Why), l.Dropped && l.Why.AtPort()
	r.take(b, l.Frame, min(l.Frame.PktLen(), Most), set.Priority(false), 0)
	r.ring.publish()
}

// take writes n bytes of m, and what r.record says of it, if packets of this kind have some of their share left.
func (r *Recorder) take(b *burst.Burst, m *mbuf.Mbuf, n int, kind event.Priority, episode uint32) {
	x := &r.record
	room := r.record.Room(n)
	if !r.share.may(kind, room+prefixLen, b.Now) {
		r.counters.LeftOut[RefusedShare]++
		return
	}
	x.Time, x.Link, x.ToNetwork = b.Now+r.detector.Wall, b.Link.Index, b.Direction == burst.ToNetwork
	x.Host = x.Out != x.ToNetwork
	x.Write(r.ring.next(room, b.Now, episode), m, n)
	r.counters.Packets++
}
