// Event tx_utilization: an egress interface becomes busy, and calm again after a hold time.

package event

import "intsink/flows"

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
	i, _ := d.fabric.Interfaces.Get(now, key)
	i.Utilization, i.Seen = n.TxUtilization, now
	if n.TxUtilization < t.TxRaise && !i.Busy {
		return 0
	}
	s := d.shared
	s.mu.Lock()
	e, _ := s.interfaces.Get(now, key)
	was := e.Busy
	set := d.busyInterface(now, f, n, &e.Interface, fresh, t)
	if e.Busy != was || e.Busy && now-e.told >= InterfaceMemory/4 {
		e.told = now
		s.announce(d, sharedInterfaces, key)
	}
	i.take(&e.Interface)
	s.mu.Unlock()
	if i.Busy {
		d.markInterface(key)
	}
	return set
}

// busyInterface moves i, which holds for all workers, by one packet that left through it.
func (d *Detector) busyInterface(now int64, f *flows.Flow, n *hopValues, i *Interface, fresh bool, t *Thresholds) Set {
	i.Utilization = n.TxUtilization
	if now-i.Seen > max(InterfaceMemory, t.TxHold) {
		i.Busy, i.Below = false, 0
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
	if n.TxUtilization < t.TxRaise {
		return 0
	}
	if !i.Busy {
		i.Busy, i.Reported = true, false
		d.Counters.Fired[TxUtilization]++
	}
	switch {
	case i.Reported:
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
