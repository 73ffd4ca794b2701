// slotQueue: a queue of a slot, as of a link that is down while the slot is empty.

package ports

import (
	"sync/atomic"

	"intsink/dpdk/ethdev"
	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
)

// slotQueue is a queue of a slot: as of a link that is down while that is empty.
type slotQueue interface {
	Queue
	fill(d device, w int) // with queue pair w
	clear()               // the burst at hand may still use the device
}

// dpdkQueue is one of a device of DPDK. Loops in C poll it whether the slot is empty or not.
type dpdkQueue struct{ *ethdev.Queue }

func absentQueue() dpdkQueue {
	q, err := ethdev.Absent()
	if err != nil {
		panic(err) // a few bytes
	}
	return dpdkQueue{q}
}

func (q dpdkQueue) fill(d device, w int) { q.Found(d.(*dpdkDevice).Port, uint16(w)) }
func (q dpdkQueue) clear()               { q.Lost() }

// Depth is 0 also where the driver cannot tell: that may be another one some day.
func (q dpdkQueue) Depth() int { return max(q.Queue.Depth(), 0) }

// kernelQueue is one of an interface of the kernel that was not there at the start.
type kernelQueue struct{ inner atomic.Pointer[Queue] }

func (q *kernelQueue) fill(d device, w int) {
	inner := d.queue(w)
	q.inner.Store(&inner)
}
func (q *kernelQueue) clear() { q.inner.Store(nil) }

// RxBurst implements burst.Queue.
func (q *kernelQueue) RxBurst(v *mbuf.Vec) int {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).RxBurst(v)
	}
	return 0
}

// TxBurst implements burst.Queue.
func (q *kernelQueue) TxBurst(v *mbuf.Vec, n int) int {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).TxBurst(v, n)
	}
	return 0
}

// Exchange implements burst.Queue.
func (q *kernelQueue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).Exchange(tx, n, rx)
	}
	return 0, 0
}

// Refusal implements burst.Refuser.
func (q *kernelQueue) Refusal() mbuf.Refusal {
	inner := q.inner.Load()
	if inner == nil {
		return mbuf.RefusedDown
	}
	if r, ok := (*inner).(burst.Refuser); ok {
		return r.Refusal()
	}
	return mbuf.RefusedFull
}

// Depth is 0 while nothing can wait.
func (q *kernelQueue) Depth() int {
	if inner := q.inner.Load(); inner != nil {
		return (*inner).Depth()
	}
	return 0
}
