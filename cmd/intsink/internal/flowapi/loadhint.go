// What the loads of interfaces suggest of their unit, where nobody knows it. Nothing is judged by it: whoever knows the nodes decides.

package flowapi

import (
	"fmt"

	"intsink/engine/event"
)

// loads are the highest loads of interfaces.
type loads struct {
	unknown map[uint64]uint32 // by interface, as the wire has them
	odd     map[uint32]uint32 // per cent, by node: more than can be
}

func newLoads() *loads { return &loads{map[uint64]uint32{}, map[uint32]uint32{}} }

// add takes up what one worker knows of an interface.
func (l *loads) add(key uint64, i *event.Interface) {
	if node := uint32(key >> 32); i.IsOdd() {
		l.odd[node] = max(l.odd[node], i.Highest)
	} else if !i.Percent {
		l.unknown[key] = max(l.unknown[key], i.Highest)
	}
}

// several is how many interfaces have to stop at the same load before that is said.
const several = 3

// hint is what is to be said; "": nothing.
func (l *loads) hint() string {
	if len(l.odd) > 0 {
		worst := uint32(0)
		for node, percent := range l.odd {
			if most := l.odd[worst]; percent > most || percent == most && node < worst {
				worst = node
			}
		}
		return fmt.Sprintf("node %d writes loads up to %d %% of what tx_utilization_full of its node_model says: that is not what a full interface writes; its interfaces are not judged", worst, l.odd[worst])
	}
	highest, at := uint32(0), 0
	for _, most := range l.unknown {
		switch {
		case most > highest:
			highest, at = most, 1
		case most == highest:
			at++
		}
	}
	const set = "node_model { tx_utilization_full = %d }"
	switch {
	case highest == 0:
		return ""
	case highest <= 100:
		return fmt.Sprintf("the highest load that was seen is %d: where nodes write per cent, say so: "+set, highest, 100)
	case at >= several && at < len(l.unknown):
		return fmt.Sprintf("%d of %d interfaces went up to %d, and none beyond: if that is the full load, say so: "+set, at, len(l.unknown), highest, highest)
	}
	return fmt.Sprintf("the highest load that was seen is %d: what nodes write for a full interface says node_model { tx_utilization_full }", highest)
}
