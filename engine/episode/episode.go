// Package episode records what happens in a queue from the onset of congestion to its end: how many packets, how long
// the queue was, whose packets they were, and who waited for them.
//
// A Book has room for a fixed number of records. While one is open, every packet that passes the queue is counted in it,
// not those alone that are reported. All workers of a sink write in one Book, under its lock: the first packet of a burst that passes
// a congested queue on its own, the others together (Tally). Where no queue is congested, nobody touches it.
//
//	episode.go   Record
//	packet.go    what a packet adds to it, and what its flow keeps
//	tally.go     Tally: what packets of one worker add together, those of flows that have no place in the flow table, too
//	tallies.go   Tallies: those of all records that are open
//	testimony.go whether an episode is evidence enough to say who fills the queue
//	crowd.go     Crowd: hosts and services, of a sample of packets
//	topflows.go  Top: the flows with the most bytes, or the most delay, in fixed memory
//	summary.go   what a report says of an episode that ended
//	book.go      Book: open records, and the last ones that ended
package episode

import "math"

// unknown is a value that a packet does not tell.
const unknown = math.MaxUint32

// Windows is how many windows of time a record has. They are WindowNs long, and twice as long each time that the episode
// outlasts them.
const (
	Windows  = 64
	WindowNs = 10_000_000
)

// Window is what passed the queue in a short time.
type Window struct {
	Packets, Bytes     uint64
	Latency, Occupancy uint32 // the highest; 0: none was told
}

// Record is one episode of one queue. It holds no pointer: a copy is as good.
type Record struct {
	ID         uint32    // from 1 on, in the order of their onset; 0: no record
	Queue      [2]uint64 // as event.Fabric has it
	Begin, End int64     // Unix nanoseconds; End 0: it goes on
	Ended      Ending
	Last       int64 // when the last packet passed

	UsualLatency, UsualOccupancy uint32 // medians before the onset; 0: not known
	Packets, Bytes               uint64 // of all, other ones too
	OtherPackets, OtherBytes     uint64 // of flows without a place in the flow table
	Capable, Marked              uint64 // packets whose ECN field queues may mark, or have marked; that some queue has
	PeakLatency, PeakOccupancy   uint32
	told, occupancies            uint64 // packets that told an occupancy, and the sum
	PeakAt                       int64  // when the latency, or without one the occupancy, was highest

	Culprits Top // by bytes in this queue
	Victims  Top // by how much longer their packets were in it than is usual, nanoseconds

	Hosts, Services Crowd // of the packets' sources, of their lower ports
	now, before     Top   // Culprits of the last ten seconds, and of those before
	spanAt          int64 // when the last ones began
	picker

	Bursts uint32 // in which the queue was over its threshold, with calm between them
	over   int64  // how long those lasted that are over
	burst  int64  // when the last one began
	rested int64  // when it ended; 0: it goes on
	due    int64  // when the episode ends, if it stays calm

	Width  int64 // of a window, nanoseconds
	Window [Windows]Window
}

// Ending is why an episode is over.
type Ending uint8

const (
	Open    Ending = iota // it is not
	Cleared               // the queue's values came down
	Silent                // no packet passed for the timeout
)

// String returns the word for it in answers and logs.
func (e Ending) String() string { return [...]string{"open", "cleared", "silent"}[e%3] }

// Over is how long the queue was over its threshold, all bursts together.
func (r *Record) Over() int64 {
	return r.over + max(r.LastFull()-r.burst, 0)
}

// LastFull is when the queue was last in a burst.
func (r *Record) LastFull() int64 {
	if r.rested != 0 {
		return r.rested
	}
	return r.Last
}

// Worst returns the highest latency and occupancy of the last nanoseconds in which there was a burst, as far as windows tell.
func (r *Record) Worst(last int64) (latency, occupancy uint32) {
	first := max(r.Last-last-r.Begin, 0) / max(r.Width, 1)
	for i := min(first, Windows); i < Windows; i++ {
		latency, occupancy = max(latency, r.Window[i].Latency), max(occupancy, r.Window[i].Occupancy)
	}
	return latency, occupancy
}

// Occupancy is how full the queue was on average: the fullest of many packets finds any queue fuller than usual. known: a packet
// told.
func (r *Record) Occupancy() (mean uint32, known bool) {
	return uint32(r.occupancies / max(r.told, 1)), r.told > 0
}

// windowAt returns the window of a time. Where the episode outlasts them, two become one.
func (r *Record) windowAt(now int64) *Window {
	at := max(now-r.Begin, 0) / r.Width
	for at >= Windows {
		for i := range Windows / 2 {
			a, b := r.Window[2*i], r.Window[2*i+1]
			r.Window[i] = Window{a.Packets + b.Packets, a.Bytes + b.Bytes, max(a.Latency, b.Latency), max(a.Occupancy, b.Occupancy)}
		}
		clear(r.Window[Windows/2:])
		r.Width *= 2
		at /= 2
	}
	return &r.Window[at]
}
