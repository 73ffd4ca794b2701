// OddValues: which nodes write residence times that cannot be, and how often.

package detect

import "sync/atomic"

// mostOdd are the nodes that are counted each for itself.
const mostOdd = 32

// OddValues counts hops of IFA whose residence time cannot be, by node. One goroutine counts, all may read.
type OddValues struct {
	of     [mostOdd]oddNode
	others atomic.Uint64
}

type oddNode struct {
	node  atomic.Uint32
	count atomic.Uint64 // 0: of no node yet
}

func (o *OddValues) count(node uint32) {
	for i := range o.of {
		switch x := &o.of[i]; {
		case x.count.Load() == 0:
			x.node.Store(node)
			x.count.Store(1)
			return
		case x.node.Load() == node:
			x.count.Add(1)
			return
		}
	}
	o.others.Add(1)
}

// All calls yield for each node. Those that there was no room for are left out.
func (o *OddValues) All(yield func(node uint32, hops uint64) bool) {
	for i := range o.of {
		if n := o.of[i].count.Load(); n == 0 || !yield(o.of[i].node.Load(), n) {
			return
		}
	}
}

// Others are hops of nodes that there was no room for.
func (o *OddValues) Others() uint64 { return o.others.Load() }
