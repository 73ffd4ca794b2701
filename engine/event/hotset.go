// HotSet: a filter of 262,144 bits that tells which queues and interfaces may be in an
// episode; marks them, and sweeps the tables to make it anew.

package event

import "math/bits"

// HotSet is a filter of queues or interfaces that may be in an episode: a bit each, by a
// keyed hash. What has no bit is in none. It is large against the tables (MaxQueues,
// MaxInterfaces), so that full ones leave bits to few others.
type HotSet [1 << (hotShift - 6)]uint64

// hotShift is how many bits of a hash are the number of a bit.
const hotShift = 18

// Has reports whether bit is set.
func (h *HotSet) Has(bit uint32) bool { return h[bit/64%uint32(len(h))]>>(bit%64)&1 != 0 }

func (h *HotSet) set(bit uint32) { h[bit/64%uint32(len(h))] |= 1 << (bit % 64) }

// Bit returns the bit of a queue, or with queue 0 of its egress interface. first are the first
// eight bytes of a hop as a little endian load reads them; only the node and the egress
// interface are hashed.
func (v *FastView) Bit(first uint64, queue uint8) uint32 {
	return (uint32(first&0xffff0000_ffffffff*v.key>>(64-hotShift)) + uint32(queue)*queueStep) % hotBits
}

const (
	hotBits   = uint32(1) << hotShift
	queueStep = 1237 // odd: 256 queues of an interface have 256 bits
)

// Bits of FastView.Hot.
const (
	HotQueues = 1 << iota
	HotInterfaces
)

// bitOfKey is Bit of the key of a queue or an interface in its table.
func (v *FastView) bitOfKey(key [2]uint64) uint32 {
	node, egress := bits.ReverseBytes32(uint32(key[0]>>32)), bits.ReverseBytes16(uint16(key[0]))
	return v.Bit(uint64(node)|uint64(egress)<<48, uint8(key[1]))
}

// MarkQueue adds to v.Queues.
func (v *FastView) MarkQueue(bit uint32) {
	if !v.Queues.Has(bit) {
		v.epoch++
	}
	v.Queues.set(bit)
	v.Hot |= HotQueues
}

// MarkInterface adds to v.Interfaces.
func (v *FastView) MarkInterface(bit uint32) {
	v.Interfaces.set(bit)
	v.Hot |= HotInterfaces
}

// rests has Sweep look at the queues: one is calm in an episode, and packets of it are to go through Packet once that is over.
func (v *FastView) rests() { v.resting, v.sweepResting = true, true }

// mark has packets of a queue go through Packet as long as it is hot.
func (d *Detector) mark(now int64, key [2]uint64, q *Queue) {
	if q.isHot(now) {
		d.markQueue(key)
	} else if q.Calm {
		d.view.rests()
	}
}

// markQueue makes packets of a queue that is in an episode go through Packet.
func (d *Detector) markQueue(key [2]uint64) {
	v, bit := d.view, d.view.bitOfKey(key)
	v.MarkQueue(bit)
	v.sweepQueues.set(bit)
}

// markInterface is markQueue for an interface.
func (d *Detector) markInterface(key [2]uint64) {
	v, bit := d.view, d.view.bitOfKey(key)
	v.MarkInterface(bit)
	v.sweepInterfaces.set(bit)
}

// expireEvery is how often Sweep ends records of episodes that no packet ends.
const expireEvery = 100e6

// sweepSlots is how many entries of the tables one call of Sweep looks at.
const sweepSlots = 512

// Sweep removes the bits of queues and interfaces that are in no episode any more: each call
// compares a part of the tables with the filters, and 50 calls go round. It is to be called
// every millisecond or so.
func (d *Detector) Sweep(now int64) {
	d.EndTallies(now)
	d.EndBusy()
	if now >= d.expireAt {
		d.expireAt = now + expireEvery
		d.shared.episodes.Expire(now, d.ends.timeout)
	}
	v := d.view
	if v.Hot == 0 && !v.resting {
		return
	}
	if v.sweeping == 0 {
		v.sweepAt = d.fabric.Queues.Walk(v.sweepAt, sweepSlots, func(key [2]uint64, _ uint32, q *Queue) {
			v.sweepResting = v.sweepResting || q.Congested && q.Calm
			if q.isHot(now) && (now-q.Seen < d.ends.timeout || q.Calm && now-q.Ends < d.ends.timeout) {
				v.sweepQueues.set(v.bitOfKey(key))
			}
		})
	} else {
		v.sweepAt = d.fabric.Interfaces.Walk(v.sweepAt, sweepSlots, func(key [2]uint64, _ uint32, i *Interface) {
			if i.Busy && d.marksBusy && now-i.Seen <= max(InterfaceMemory, d.longestHold) {
				v.sweepInterfaces.set(v.bitOfKey(key))
			}
		})
	}
	if v.sweepAt != 0 {
		return
	}
	if v.sweeping++; v.sweeping == 2 {
		v.endSweep()
	}
}

func (v *FastView) endSweep() {
	v.epoch++
	v.Queues, v.Interfaces = v.sweepQueues, v.sweepInterfaces
	v.sweepQueues, v.sweepInterfaces, v.sweeping, v.Hot = HotSet{}, HotSet{}, 0, 0
	v.resting, v.sweepResting = v.sweepResting, false
	if v.Queues != (HotSet{}) {
		v.Hot |= HotQueues
	}
	if v.Interfaces != (HotSet{}) {
		v.Hot |= HotInterfaces
	}
}
