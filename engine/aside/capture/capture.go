// Capture: one worker's part in a capture: the filter of packets that are wanted, its rate,
// its end, what it drops.

package capture

import (
	"slices"
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/selector"
	"intsink/engine/wire/inthdr"
)

// MaxSnap is the most bytes that are kept of a packet.
const MaxSnap = 65535

// burstRoom is how many packets may be captured at once, however low the rate is: a burst.
const burstRoom = mbuf.MaxBurst

// Capture is one worker's part in a capture. The worker calls take, Allow, Publish, Begin and
// End, the reader all other methods.
type Capture struct {
	Filter Filter
	Until  int64 // when it ends, by the worker's clock

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

// Allow reports whether the rate allows one more packet at now. If not, it counts the packet.
func (c *Capture) Allow(now int64) bool {
	if c.due-now > burstRoom*c.interval {
		c.refused.Store(c.refused.Load() + 1) // only the worker writes it
		return false
	}
	c.due = max(c.due, now) + c.interval
	return true
}

// take copies m and the fields of h into the ring. It returns the zero Slot, and counts it, if there is no
// room.
func (c *Capture) take(h *head, m *mbuf.Mbuf) Slot {
	s := c.ring.put(h, m, c.Filter.SnapLength)
	if s == (Slot{}) {
		c.full.Store(c.full.Load() + 1)
	}
	return s
}

// Publish makes the packets that were taken visible to the reader.
func (c *Capture) Publish() { c.ring.publish() }

// Begin notes that the worker takes packets from now on.
func (c *Capture) Begin() { c.begun.Store(true) }

// Begun reports whether the worker has begun to take packets.
func (c *Capture) Begun() bool { return c.begun.Load() }

// End notes that no packet will be published any more.
func (c *Capture) End() { c.ended.Store(true) }

// Ended reports whether the worker has ended. If Next finds nothing after that, the capture is
// complete.
func (c *Capture) Ended() bool { return c.ended.Load() }

// Next reads the next packet into r. It returns false if there is none now. r.Data is valid
// until Done.
func (c *Capture) Next(r *Record) bool { return c.ring.get(r) }

// Done frees the room of the packet that Next returned.
func (c *Capture) Done() { c.ring.done() }

// Dropped returns how many packets the rate did not allow, and how many copies found no room.
func (c *Capture) Dropped() (rate, full uint64) { return c.refused.Load(), c.full.Load() }

// Stages is a set of points on a packet's way at which it is captured.
type Stages uint8

const (
	In   Stages = 1 << iota // as they came, before INT is removed
	Out                     // as they leave
	Both = In | Out
)

// Filter says which packets are wanted: those that fit all fields that are set, a list by any
// of its entries.
type Filter struct {
	Stages     Stages
	Links      []int // indices of links; empty: all
	Watches    []string
	Events     event.Set       // some report about the packet is about one of them
	Dropped    uint32          // bits of burst.DropReason
	Malformed  uint32          // bits of inthdr.Reason; a packet fits that has a reason of either
	Match      *selector.Table // nil: every packet
	SnapLength int             // bytes of a packet that are kept
}

// AsksFlow reports whether the filter names watches: then only packets from the network with INT
// can fit, since only these have flows.
func (f *Filter) AsksFlow() bool { return len(f.Watches) > 0 }

// AsksFurther reports whether the filter asks for more than what Match selects a packet by.
func (f *Filter) AsksFurther() bool { return f.AsksFlow() || f.AsksReason() || f.Events != 0 }

// AsksReason reports whether only dropped or malformed packets can fit.
func (f *Filter) AsksReason() bool { return f.Dropped|f.Malformed != 0 }

// FitsLink reports whether packets of link i may fit.
func (f *Filter) FitsLink(i int) bool { return len(f.Links) == 0 || slices.Contains(f.Links, i) }

// FitsEvents reports whether a packet whose reports are about events fits.
func (f *Filter) FitsEvents(events event.Set) bool { return f.Events == 0 || f.Events&events != 0 }

// FitsReason reports whether a packet fits that was dropped for reason drop (if dropped is set)
// or is malformed for reason malformed.
func (f *Filter) FitsReason(dropped bool, drop uint8, malformed inthdr.Reason) bool {
	return !f.AsksReason() || dropped && f.Dropped>>drop&1 != 0 || malformed != inthdr.ReasonNone && f.Malformed>>malformed&1 != 0
}
