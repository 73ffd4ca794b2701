// Nearly all: where nearly all nodes have the same trouble, be they slow or their queues full, one problem says it.

package network

import (
	"time"

	"intsink/engine/usual"
)

// Where nearlyAll of the nodes that packets pass have a trouble, and more than fewNodes, one problem says it, until no node has it, or
// fewer than that for fewerForAll. Where half as many have it, and one more got it within growsFor, the others are waited for.
const (
	nearlyAll   = 0.8
	fewNodes    = 4 // are no such part
	growsFor    = 2 * time.Second
	fewerForAll = 20 * time.Second
)

// atNearlyAll remembers when nearly all nodes had the same trouble last.
type atNearlyAll struct{ last time.Time }

// holds reports whether one problem says it for so many nodes, of those that packets pass.
func (e *atNearlyAll) holds(nodes, of int, now time.Time) bool {
	if of > 0 && float64(nodes) >= nearlyAll*float64(of) && nodes > fewNodes {
		e.last = now
	}
	if nodes == 0 || now.Sub(e.last) > fewerForAll {
		e.last = time.Time{}
		return false
	}
	return true
}

// grow reports whether it is waited for more nodes to get it: last is when the last one did.
func grow(nodes, of int, last int64, now time.Time) bool {
	return nodes >= fewNodes && float64(nodes) >= nearlyAll/2*float64(of) && now.UnixNano()-last < int64(growsFor)
}

// passed is how many nodes that count packets have passed lately.
func passed(used []usual.Sight, counts func(uint32) bool) int {
	seen := map[uint32]bool{}
	for _, u := range used {
		if id := hopOf(u.Key).node; counts(id) {
			seen[id] = true
		}
	}
	return len(seen)
}

// allCount has all nodes count.
func allCount(uint32) bool { return true }
