// Outlet and Sender: what takes sealed report packets, a ring or a port.

package reporting

import (
	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/report"
)

// Outlet is what takes the sealed report packets of one worker for one collector.
type Outlet struct {
	Ring   *ring.Ring // to the exporter
	Sender Sender     // where it is not nil, it takes the place of the ring
	Bucket *Bucket    // of the collector's budget, shared by all workers; nil: the worker's own
}

// outboxKind is what all outboxes of a worker have in common.
type outboxKind struct {
	pool  Pool
	group report.GroupHeader
}

// outboxOf makes the outbox of a collector. Safe from any goroutine.
func (k *outboxKind) outboxOf(to *Outlet) outbox {
	o := outbox{ring: to.Ring, sender: to.Sender, pool: k.pool, group: k.group, stash: mbuf.NewVec(), limit: limit{bucket: to.Bucket}}
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
	// Send owns v[:n], each with its report.Handoff in front, from then on. The
	// contents of v are used up.
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
