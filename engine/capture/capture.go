// Capture: one worker's part in a capture: the filter of packets that are wanted, its rate,
// its end, what it drops.

package capture

import (
	"slices"
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/mitigate"
)

// MaxSnap is the longest part of a packet that is kept.
const MaxSnap = 65535

// burstRoom is how many packets may be captured at once, however low the rate is: a burst.
const burstRoom = mbuf.MaxBurst

// Capture is one worker's part in a capture. Take, Allow, Publish, Begin and End are for the worker,
// the rest for the reader.
type Capture struct {
	Filter Filter
	Until  int64 // of the worker's clock: it ends then

	ring     *ring
	interval int64 // nanoseconds from one packet to the next, on average
	due      int64 // when the next packet may be captured, if they come evenly

	refused atomic.Uint64 // packets that the rate did not allow
	full    atomic.Uint64 // copies that found no room
	begun   atomic.Bool
	ended   atomic.Bool
}

// New makes a Capture of at most rate packets a second, whose ring has size bytes, a power
// of two.
func New(f Filter, until int64, rate float64, size int) *Capture {
	f.SnapLength = min(f.SnapLength, MaxSnap)
	return &Capture{Filter: f, Until: until, ring: newRing(size), interval: int64(1e9 / rate)}
}

// Allow takes a packet's place in the rate; false: there is none, and the packet is counted.
func (c *Capture) Allow(now int64) bool {
	if c.due-now > burstRoom*c.interval {
		c.refused.Store(c.refused.Load() + 1) // there is one writer
		return false
	}
	c.due = max(c.due, now) + c.interval
	return true
}

// Take copies m, of which r tells; nil: there was no room, and the copy is counted.
func (c *Capture) Take(r *Record, m *mbuf.Mbuf) Slot {
	s := c.ring.put(r, m, c.Filter.SnapLength)
	if s == nil {
		c.full.Store(c.full.Load() + 1)
	}
	return s
}

// Publish shows the reader what was taken.
func (c *Capture) Publish() { c.ring.publish() }

// Begin says that packets are taken from now on.
func (c *Capture) Begin() { c.begun.Store(true) }

// Begun tells whether packets are taken.
func (c *Capture) Begun() bool { return c.begun.Load() }

// End says that nothing follows what was published.
func (c *Capture) End() { c.ended.Store(true) }

// Ended tells whether the worker has ended: once Next finds nothing after that, there is
// nothing more.
func (c *Capture) Ended() bool { return c.ended.Load() }

// Next is the next packet; false: there is none now. Its Data are good until Done.
func (c *Capture) Next(r *Record) bool { return c.ring.get(r) }

// Done gives back the room of the packet that Next returned.
func (c *Capture) Done() { c.ring.done() }

// Dropped is how many packets the rate did not allow, and how many copies found no room.
func (c *Capture) Dropped() (rate, full uint64) { return c.refused.Load(), c.full.Load() }

// Stages are where packets are captured.
type Stages uint8

const (
	In   Stages = 1 << iota // as they came, before INT is removed
	Out                     // as they leave
	Both = In | Out
)

// Filter says which packets are wanted: those that fit everything that is asked for, and of
// each list one entry.
type Filter struct {
	Stages     Stages
	Links      []int // as workers index them; empty: all
	Watches    []string
	Events     event.Set       // some report about the packet is about one of them
	Dropped    uint32          // bits of engine.DropReason
	Malformed  uint32          // bits of inthdr.Reason; a packet fits that has a reason of either
	Match      *mitigate.Table // nil: every packet
	SnapLength int             // bytes of a packet that are kept
}

// AsksFlow tells whether only packets of flows fit, which come from the network with INT.
func (f *Filter) AsksFlow() bool { return len(f.Watches) > 0 }

// AsksReason tells whether only packets fit with which something is wrong.
func (f *Filter) AsksReason() bool { return f.Dropped|f.Malformed != 0 }

// FitsLink tells whether packets of link i may fit.
func (f *Filter) FitsLink(i int) bool { return len(f.Links) == 0 || slices.Contains(f.Links, i) }

// FitsEvents tells whether a packet fits whose reports are about events.
func (f *Filter) FitsEvents(events event.Set) bool { return f.Events == 0 || f.Events&events != 0 }

// FitsReason tells whether a packet fits that was dropped for the reason drop, if it was, or
// that is malformed for another.
func (f *Filter) FitsReason(dropped bool, drop uint8, malformed inthdr.Reason) bool {
	return !f.AsksReason() || dropped && f.Dropped>>drop&1 != 0 || malformed != inthdr.ReasonNone && f.Malformed>>malformed&1 != 0
}
