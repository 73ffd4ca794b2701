// OddValues: which nodes write residence times that cannot be, and how often.

package detect

import "sync/atomic"

const (
	mostOdd   = 32   // nodes that are counted each for itself
	mostVotes = 4096 // how many hops of nodes without room a node withstands
)

// OddValues counts hops of IFA whose residence time cannot be, by node. One goroutine counts, all may read. Where more nodes come
// than there is room for, the one that comes least goes, after as many hops of those without room as it has votes: ids that senders
// make up take each other's place.
type OddValues struct {
	of     [mostOdd]oddNode
	others atomic.Uint64
}

type oddNode struct {
	node  atomic.Uint32
	count atomic.Uint64 // 0: of no node
	votes uint16        // the writer's
}

func (o *OddValues) count(node uint32) {
	least := &o.of[0]
	for i := range o.of {
		x := &o.of[i]
		if x.votes > 0 && x.node.Load() == node {
			x.count.Add(1)
			x.votes = min(x.votes+1, mostVotes)
			return
		}
		if x.votes < least.votes {
			least = x
		}
	}
	if least.votes > 0 {
		o.others.Add(1)
		if least.votes--; least.votes > 0 {
			return
		}
	}
	least.count.Store(0)
	least.node.Store(node)
	least.count.Store(1)
	least.votes = 1
}

// All calls yield for each node. Those that there was no room for are left out.
func (o *OddValues) All(yield func(node uint32, hops uint64) bool) {
	for i := range o.of {
		x := &o.of[i]
		node, n := x.node.Load(), x.count.Load()
		if n > 0 && x.node.Load() == node && !yield(node, n) {
			return
		}
	}
}

// Others are hops of nodes that there was no room for.
func (o *OddValues) Others() uint64 { return o.others.Load() }
