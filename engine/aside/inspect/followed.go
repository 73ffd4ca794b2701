// Followed: what an answer tells of flows that are looked at again and again.

package inspect

import "intsink/flows"

// MaxFollowed is how many flows of one worker are followed; of a table with more, a part that stays the same.
const MaxFollowed = 1 << 13

// Followed is a flow as it is now.
type Followed struct {
	Key     flows.Key
	Path    uint64 // hash of its current path; 0: it has none
	Seen    int64  // last packet, Unix nanoseconds
	Packets uint64
	Bytes   uint64
	Ends    bool // its FIN or RST was seen
}

// followCost is that of visiting a flow and copying what is told of it.
const followCost = flowCost + rowCost

// follow takes one flow in and returns what that cost.
func (q *Query) follow(f *flows.Flow) int {
	if len(q.Followed) == cap(q.Followed) {
		return flowCost
	}
	x := Followed{Key: f.Key.Canonical(), Seen: f.LastSeen(), Ends: f.Closing()}
	if x.Packets, x.Bytes = f.Totals(); f.NumPaths > 0 {
		x.Path = f.PathHash
	}
	q.Followed = append(q.Followed, x)
	return followCost
}
