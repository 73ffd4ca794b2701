// Left: what a stage leaves in a burst for report: packets that were dropped, and packets that
// belong to no flow but have an event.

package burst

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/flows"
)

// Left is a packet that was dropped, or has an event that needs no flow.
type Left struct {
	Frame   *mbuf.Mbuf
	Flow    *flows.Flow // of a dropped packet; nil: it belongs to none
	Event   event.Event // Malformed, Leak, or NoEvent
	Dropped bool
	Why     DropReason // of a dropped packet
	I       uint8      // its place in the burst
}

// NoEvent is the Left.Event of a packet that was dropped, and nothing else.
const NoEvent = event.NumEvents

// Leave leaves l to report: at most twice for a packet, which has an event or is dropped on its way,
// and then is refused.
func (b *Burst) Leave(l Left) {
	if b.nLeft < len(b.left) {
		b.left[b.nLeft] = l
		b.nLeft++
	}
}

// HasLeft tells whether something is left that was not told yet.
func (b *Burst) HasLeft() bool { return b.nLeft != b.told }

// Untold is what is left and was not told yet.
func (b *Burst) Untold() []Left { return b.left[b.told:b.nLeft] }

// Told makes all that is left told.
func (b *Burst) Told() { b.told = b.nLeft }

// AllLeft is all that stages have left.
func (b *Burst) AllLeft() []Left { return b.left[:b.nLeft] }
