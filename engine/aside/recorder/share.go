// share: fair shares of the memory, so that a flood of one kind or of one flow does not push out what else happened.

package recorder

import (
	"intsink/engine/burst"
	"intsink/engine/event"
)

// The memory is filled at a rate at which it lasts for reach, but for what was saved up in quiet times: that of depth at
// most. So the oldest packet is at least reach-depth old, whatever comes, once the memory was full.
const (
	reach = 60e9
	depth = 15e9
)

// Kinds of packets: the priority of their report, and those that are not reported and passed a queue with an open episode.
const (
	classEpisode = event.NumPriorities
	numClasses   = event.NumPriorities + 1
)

// A half of the rate belongs to the kinds, to each as much; the other half to those that come first.
const (
	ownParts    = 2 * int64(numClasses)
	commonParts = 2
)

// A flow may have one packet a flowCost, and flowDepth/flowCost more after a silence: 60 a second, 256 at once. Flows whose
// hashes share a slot share this.
const (
	flowTick  = 20 // a unit of time is 2^20 ns, about a millisecond
	flowCost  = 16
	flowDepth = 256 * flowCost
	flowSlots = 1 << 12
)

// share keeps how much kinds and flows have had: rates as the time until which they are spent (generic cell rate
// algorithm, ITU-T I.371).
type share struct {
	perByte int64             // nanoseconds that a byte takes at the whole rate
	least   int64             // that Snap bytes take
	own     [numClasses]int64 // Unix nanoseconds
	common  int64
	flows   [flowSlots]uint32 // units of 2^flowTick ns
}

func newShare(bytes int) *share {
	perByte := (int64(reach) + int64(bytes) - 1) / int64(bytes)
	return &share{perByte: perByte, least: perByte * Snap}
}

// kindOf is the kind of a packet with this cause.
func kindOf(c burst.Cause) event.Priority {
	if c.Set() == 0 {
		return classEpisode
	}
	return c.Priority()
}

// open reports whether a packet of this kind may have its share: of few bytes, at least.
func (s *share) open(kind event.Priority, now int64) bool {
	return max(s.own[kind], now-depth)+s.least*ownParts <= now || max(s.common, now-depth)+s.least*commonParts <= now
}

// may spends n bytes for a packet of this kind, and reports whether there were some.
func (s *share) may(kind event.Priority, n int, now int64) bool {
	cost := int64(n) * s.perByte
	return spend(&s.own[kind], cost*ownParts, now) || spend(&s.common, cost*commonParts, now)
}

func spend(spent *int64, cost, now int64) bool {
	from := max(*spent, now-depth)
	if from+cost > now {
		return false
	}
	*spent = from + cost
	return true
}

// flowMay spends a packet of the flow with this hash, and reports whether there was one.
func (s *share) flowMay(hash uint64, now int64) bool {
	spent := &s.flows[hash>>32%flowSlots]
	tick := uint32(now >> flowTick)
	from := *spent
	if age := int32(tick - from); age < 0 || age > flowDepth {
		from = tick - flowDepth
	}
	if tick-from < flowCost {
		return false
	}
	*spent = from + flowCost
	return true
}
