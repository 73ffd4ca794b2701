// busyRun: packets that leave through an interface which stays busy, passed by package engine/fast.

package event

import "math/bits"

// busyRun is an interface that is busy and was reported: packets whose load is above every threshold that clears one, and not above
// the highest so far, do nothing but tell the load, until a time. Package engine/fast passes those (stays_busy, fast_busy); any other
// packet of the interface ends the run, and begins one anew.
type busyRun struct {
	interfaceKey uint64 // node and egress interface, as C finds them in a hop
	until, seen  int64  // seen: when the last packet passed that C has passed
	least, span  uint32 // of loads
	last         uint32 // load of that packet
	goes         bool
	_            [3]uint8
}

// BusyRuns is how many interfaces may have one at once, each at its place by the hash of HotSet.
const BusyRuns = 64

// busyRunNs is how long a run lasts without a packet that Go sees: other workers learn that the interface is busy by those.
const busyRunNs = 100e6

// busyPlace is where the run of an interface is.
func (v *FastView) busyPlace(key [2]uint64) uint { return uint(v.bitOfKey(key) % BusyRuns) }

// beginBusy has packets that find i, whose key that is, as busy as before pass without Go: no busier than anybody knows.
func (d *Detector) beginBusy(now int64, key [2]uint64, i *Interface, highest uint32) {
	if !i.Busy || !i.Reported || i.Below != 0 || highest <= d.highestClear {
		return
	}
	node, egress := bits.ReverseBytes32(uint32(key[0]>>32)), bits.ReverseBytes16(uint16(key[0]))
	d.view.busy[d.view.busyPlace(key)] = busyRun{
		interfaceKey: uint64(node) | uint64(egress)<<48, until: now + busyRunNs,
		least: d.highestClear + 1, span: highest - d.highestClear - 1, goes: true,
	}
}

// EndBusy tells interfaces of the packets that C has passed since it was called last.
func (d *Detector) EndBusy() {
	for v := d.view; v.busied != 0; {
		d.endBusy(uint(bits.TrailingZeros64(v.busied)))
	}
}

func (d *Detector) endBusy(place uint) {
	r, s := &d.view.busy[place%BusyRuns], d.shared
	d.view.busied &^= 1 << place
	node, egress := bits.ReverseBytes32(uint32(r.interfaceKey)), bits.ReverseBytes16(uint16(r.interfaceKey>>48))
	key := [2]uint64{uint64(node)<<32 | uint64(egress)}
	if i := d.fabric.Interfaces.Find(key); i != nil {
		i.Utilization, i.Seen = r.last, r.seen
	}
	s.mu.Lock()
	if e := s.interfaces.Find(key); e != nil && e.Busy {
		e.Utilization, e.Seen = r.last, max(e.Seen, r.seen)
		s.noteBusy(key, &e.Interface)
	}
	s.mu.Unlock()
}

// stopBusy ends the run at the place of an interface: a packet is about to change more of it.
func (d *Detector) stopBusy(key [2]uint64) {
	place := d.view.busyPlace(key)
	if d.view.busied>>place&1 != 0 {
		d.endBusy(place)
	}
	d.view.busy[place].goes = false
}

// stopAllBusy ends all runs.
func (d *Detector) stopAllBusy() {
	d.EndBusy()
	for i := range d.view.busy {
		d.view.busy[i].goes = false
	}
}
