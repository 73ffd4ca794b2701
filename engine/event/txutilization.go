package event

import "intsink/flows"

// minTxInterval is the shortest time between two tx_utilization reports of one
// interface.
const minTxInterval = 1e9

// interfaceMemory is how long an interface that no packet tells of stays busy, or TxHold
// where that is longer.
const interfaceMemory = 600e9

// txUtilization reports an interface that becomes busy once; it is armed again
// after a time at or below the clearing threshold.
func (d *Detector) txUtilization(now int64, f *flows.Flow, n *hopValues, fresh bool, t *Thresholds) Set {
	i, _ := d.fabric.Interfaces.Get(now, n.egressKey(0))
	i.Utilization = n.tx
	memory := max(interfaceMemory, t.TxHold)
	if now-i.Seen > memory {
		i.Busy, i.Below = false, 0
	}
	i.Seen = now
	if n.tx > t.TxClear {
		i.Below = 0
	} else if i.Below == 0 {
		i.Below = now
	}
	if i.Busy && i.Below != 0 && now-i.Below >= t.TxHold {
		i.Busy = false
	}
	if i.Busy || n.tx >= t.TxRaise {
		d.busyUntil = now + memory
	}
	if n.tx < t.TxRaise {
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
		i.Reported = true // it sets the state; nothing is said of it
		return 0
	case i.Sent != 0 && now-i.Sent < minTxInterval:
		return d.withhold(f, TxUtilization, SuppressInterval)
	}
	i.Reported, i.Sent = true, now
	d.Trigger = Trigger{n.id, t.TxRaise, n.tx}
	return TxUtilization.Set()
}
