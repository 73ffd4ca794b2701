// Outlet and Sender: the ring or the port that takes sealed report packets.

package reporting

import (
	"time"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/wire/report"
)

// Outlet takes the sealed report packets of one worker for one collector.
type Outlet struct {
	Ring   *ring.Ring // to the exporter
	Sender Sender     // takes them in place of the ring; nil: the ring does
	Bucket *Bucket    // the collector's budget, shared by all workers; nil: this worker's own
}

// outboxKind holds the values that all outboxes of a worker share.
type outboxKind struct {
	pool     Pool
	group    report.GroupHeader
	instance uint64
}

// outboxOf makes the outbox of a collector. Any goroutine may call it.
func (k *outboxKind) outboxOf(to *Outlet) outbox {
	o := outbox{ring: to.Ring, sender: to.Sender, pool: k.pool, group: k.group, stash: mbuf.NewVec(), limit: limit{bucket: to.Bucket}, instance: k.instance, began: time.Now().UnixNano()}
	if to.Bucket == nil {
		o.limit.bucket = NewBucket()
	}
	if to.Sender != nil {
		o.batch = mbuf.NewVec()
	}
	return o
}

// Sender transmits the sealed report packets of one worker for one collector
// on the worker's own queue, as exporters/port does.
type Sender interface {
	// Send takes over v[:n], each with its report.Handoff in front, and frees them. It may
	// change the contents of v.
	Send(v *mbuf.Vec, n int)
}

// Pool gives mbufs for report packets and takes back those that were not used, as
// mempool.Mempool does.
type Pool interface {
	// AllocBulk fills v[:n] or, returning false, leaves v alone.
	AllocBulk(v *mbuf.Vec, n int) bool
	// FreeBulk gives v[:n] back.
	FreeBulk(v *mbuf.Vec, n int)
}
