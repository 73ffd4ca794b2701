// Limits: when events and drops that belong to no flow were last reported for the ports of a link,
// which all workers share.

package burst

import (
	"sync/atomic"

	"intsink/engine/event"
)

// Limits keeps when events of no flow were last reported for the ports of one link. A worker
// touches it only when it reports or withholds something.
type Limits struct {
	lastReported [event.NumEvents]atomic.Int64             // when malformed, leak and unknown_domain were last reported
	drops        [NumDirections][NumDropReasons]dropsSince // of packets that belong to no flow
}

// LastReported is when event e was last reported.
func (l *Limits) LastReported(e event.Event) *atomic.Int64 { return &l.lastReported[e] }

// DropDue counts one more packet that belongs to no flow and was dropped, and tells whether it is
// to be reported, with how many there were since the last report: the first, then one per
// interval.
func (l *Limits) DropDue(from Direction, why DropReason, now, interval int64) (n uint32, ok bool) {
	return l.drops[from][why].due(now, interval)
}

// dropsSince are packets that the sink dropped for one reason since it last said
// so.
type dropsSince struct {
	n    atomic.Uint32
	sent atomic.Int64 // 0: never
}

func (d *dropsSince) due(now, interval int64) (n uint32, ok bool) {
	d.n.Add(1)
	if last := d.sent.Load(); last != 0 && now-last < interval || !d.sent.CompareAndSwap(last, now) {
		return 0, false
	}
	return d.n.Swap(0), true
}
