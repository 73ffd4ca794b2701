// Queue, Pool, Link and Station: what a worker is connected to; Refuser, a queue that says
// why it refused a packet; Served, a link as a worker serves it.

package burst

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/fast"
	"intsink/engine/reporting"
	"intsink/engine/wire/inthdr"
)

// Queue is one rx/tx queue pair of a port, as ethdev.Queue implements it.
// Only the worker that owns it calls it.
type Queue interface {
	// RxBurst fills v and returns how many packets arrived.
	RxBurst(v *mbuf.Vec) int
	// TxBurst hands over v[:n] and returns how many were taken, from the
	// front; the rest stay the caller's.
	TxBurst(v *mbuf.Vec, n int) int
	// Exchange is TxBurst of tx[:n], which may be none, and then RxBurst into rx,
	// another vector: where each is a call into C, one call.
	Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int)
}

// Pool gives and takes mbufs, as mempool.Mempool does. Safe for concurrent use.
type Pool interface {
	// AllocBulk fills v[:n] or, returning false, leaves v alone.
	AllocBulk(v *mbuf.Vec, n int) bool
	// FreeBulk gives v[:n] back to the pools they came from, whole chains.
	FreeBulk(v *mbuf.Vec, n int)
}

// Link is one link as one worker sees it: its queue on both ports.
type Link struct {
	Name              string
	Network, Host     Queue             // Host is nil on a tap
	NetworkID, HostID uint16            // interface ids in the sink's own metadata
	Gauges            *reporting.Gauges // nil: not live
	Droppable         bool              // rules may drop what comes from the network

	NetworkStation, HostStation Station // nil: no reports leave by that port
}

// Station is one worker's part in finding the neighbours on a port by which
// reports leave.
type Station interface {
	// Hear looks at a frame that may be ARP or Neighbor Discovery and leaves it as
	// it is.
	Hear(frame []byte, now int64)
	// Tick does what is due. It is called every millisecond.
	Tick(now int64)
}

// Refuser is a Queue that knows why it did not take a packet, as afpacket.Queue does.
// The others are full.
type Refuser interface {
	// Refusal is about the packet behind those that the last TxBurst took.
	Refusal() mbuf.Refusal
}

// Reading is how INT of a link is read, with the templates that were made so. Links whose rules are the same
// share one.
type Reading struct {
	Locator       *inthdr.Locator
	Fast          *fast.Path
	DropMalformed bool // what is marked as INT but unsound is dropped
}

// Served is a link as one worker serves it.
type Served struct {
	*Link
	*Reading
	Index    int // among the worker's links
	Counters *Counters
	Limits   *Limits
}
