// Event tx_utilization: an egress interface becomes busy, and calm again after a hold time.

package event

import (
	"maps"

	"intsink/flows"
)

// minTxInterval is the shortest time between two tx_utilization reports of one
// interface.
const minTxInterval = 1e9

// InterfaceMemory is how long an interface stays busy without a packet that carries its
// utilization; TxHold if that is longer.
const InterfaceMemory = 600e9

// txUtilization reports an interface that becomes busy once; it is armed again
// after a time at or below the clearing threshold.
func (d *Detector) txUtilization(now int64, f *flows.Flow, n *hopValues, fresh bool, t *Thresholds) Set {
	key := n.egressKey()
	d.stopBusy(key)
	i, made := d.fabric.Interfaces.Get(now, key)
	if made { // another one may have gone for it
		d.stopAllBusy()
	}
	i.see(n)
	i.Seen = now
	if n.TxUtilization < t.TxRaise && !i.Busy && i.Window == 0 {
		return 0
	}
	s := d.shared
	s.mu.Lock()
	e, _ := s.interfaces.Get(now, key)
	was := e.Interface
	set := d.busyInterface(now, f, n, &e.Interface, fresh, t)
	if e.Busy != was.Busy || e.Window != was.Window || e.Busy && now-e.told >= InterfaceMemory/4 {
		e.told = now
		s.announce(d, sharedInterfaces, key)
	}
	s.noteBusy(key, &e.Interface)
	i.take(&e.Interface)
	highest := min(i.Highest, e.Highest)
	s.mu.Unlock()
	if i.Busy && d.marksBusy {
		d.markInterface(key)
		d.beginBusy(now, key, i, highest)
	}
	return set
}

// see takes up the load that a node writes.
func (i *Interface) see(n *hopValues) {
	if percent := n.model.TxFull != 0; percent != i.Percent {
		i.Percent, i.Highest = percent, 0
	}
	i.Utilization, i.Highest = n.TxUtilization, max(i.Highest, n.TxUtilization)
}

// oddLoad is more than an interface can send, in per cent, however coarsely its node counts: what is said to be full is not.
const oddLoad = 150

// IsOdd reports whether the unit of an interface cannot be what is said of it. Nothing is concluded from its loads then.
func (i *Interface) IsOdd() bool { return i.Percent && i.Highest > oddLoad }

// busyInterface moves i, which holds for all workers, by one packet that left through it.
func (d *Detector) busyInterface(now int64, f *flows.Flow, n *hopValues, i *Interface, fresh bool, t *Thresholds) Set {
	i.see(n)
	if now-i.Seen > max(InterfaceMemory, t.TxHold) {
		i.Busy, i.Below, i.Window = false, 0, 0
	}
	i.Seen = max(i.Seen, now)
	if n.TxUtilization > t.TxClear {
		i.Below = 0
	} else if i.Below == 0 {
		i.Below = now
	}
	if i.Busy && i.Below != 0 && now-i.Below >= t.TxHold {
		i.Busy = false
	}
	if t.TxAuto && i.IsOdd() {
		i.Busy = false
		return 0
	}
	over := n.TxUtilization >= t.TxRaise
	if t.TxAuto && !i.Busy {
		over = suspects(&i.Window, over)
	}
	if !over {
		return 0
	}
	if !i.Busy {
		i.Busy, i.Reported, i.Since = true, false, now
		d.Counters.Fired[TxUtilization]++
	}
	switch {
	case i.Reported:
		return 0
	case fresh && t.TxAuto: // another sample will tell
		return 0
	case fresh:
		i.Reported = true // a flow's first packet sets the state and is not reported for it
		return 0
	case i.Sent != 0 && now-i.Sent < minTxInterval:
		return d.withhold(f, TxUtilization, SuppressInterval)
	}
	i.Reported, i.Sent = true, now
	d.Trigger = Trigger{n.NodeID, t.TxRaise, n.TxUtilization}
	return TxUtilization.Set()
}

// noteBusy keeps an interface that is busy for Busy. s is locked.
func (s *Shared) noteBusy(key [2]uint64, i *Interface) {
	if !i.Busy {
		delete(s.busy, key)
	} else if _, known := s.busy[key]; known || len(s.busy) < MaxInterfaces {
		s.busy[key] = *i
	}
}

// Busy are the busy interfaces that were seen since a time, as all workers know them, by the keys of Fabric. Any goroutine may call it.
func (s *Shared) Busy(since int64) map[[2]uint64]Interface {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.busy, func(_ [2]uint64, i Interface) bool { return i.Seen < since })
	return maps.Clone(s.busy)
}

// Busy are those of the detectors that d shares with.
func (d *Detector) Busy(since int64) map[[2]uint64]Interface { return d.shared.Busy(since) }
