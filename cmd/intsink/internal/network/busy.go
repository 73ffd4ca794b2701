// Busy interfaces: those that send nearly all they can for a while, without a congested queue, which tells it.

package network

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/event"
)

const (
	busyFor    = 5 * time.Second // less is no problem yet
	busyLately = 30 * time.Second
)

// busy lists interfaces that are busy. Where a queue is congested before its interface is told, the queue tells more; one that is told
// stays. The caller holds x.mu.
func (x *Network) busy(k *Known, now time.Time) []problem.Sign {
	was := x.toldBusy
	x.toldBusy = map[[2]uint64]uint32{}
	var found []found
	for _, at := range slices.SortedFunc(maps.Keys(k.Busy), func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) }) {
		v := k.Busy[at]
		full := now.Sub(x.full[at]) <= fullFor
		load, told := was[at]
		if full && !told || now.UnixNano()-v.Since < int64(busyFor) || now.UnixNano()-v.Seen >= int64(busyLately) {
			continue
		}
		if v.Below != 0 { // it is calm, and was not for long
			v.Seen = v.Below
		}
		if v.Below == 0 || !told {
			load = v.Utilization
		}
		v.Utilization, x.toldBusy[at] = load, load
		found = append(found, foundBusy(at, &v))
	}
	return x.choose(problem.InterfaceBusy, found, now)
}

func foundBusy(at [2]uint64, v *event.Interface) found {
	node, egress, unit := uint32(at[0]>>32), uint16(at[0]), ""
	if v.Percent {
		unit = "%"
	}
	return found{node, uint64(v.Utilization), func() problem.Sign {
		return problem.Sign{
			Kind: problem.InterfaceBusy, Key: fmt.Sprintf("busy %d:%d", node, egress), Subject: "network", Place: place("node", node, "egress", egress),
			What: "the interface sends nearly all it can", Over: "the interface has room again", Value: new(float64(v.Utilization)), Unit: unit,
			Since: time.Unix(0, v.Since), Seen: time.Unix(0, v.Seen), Settle: settle,
			Todo: fmt.Sprintf("look at who sends there: intsink top flows, their ways; more capacity, or another way for some: intsink incident --node %d", node),
		}
	}}
}
