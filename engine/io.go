// Queue, Pool, Link and Station: what a worker is connected to; why a queue refused, retries.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/reporting"
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
	Mitigation        bool              // rules of mitigation hold for what comes from the network

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

// refusalOf is the reason for which q did not take the packet behind those that it took.
func refusalOf(q Queue) DropReason {
	if r, ok := q.(Refuser); ok {
		switch r.Refusal() {
		case mbuf.RefusedTooLong:
			return DropTxTooLong
		case mbuf.RefusedDown:
			return DropTxDown
		case mbuf.RefusedFrame:
			return DropTxRefused
		}
	}
	return DropTxFull
}

// txRetries bounds how often a full output queue is tried again before its
// packets are dropped: a kernel-backed driver needs a moment, a stuck one must
// not stall the worker.
const txRetries = 8

// lost are packets of a burst that a port did not take: place[i] is that of burst.drop[i]
// among those that were to be transmitted.
type lost struct {
	n     int
	place [mbuf.MaxBurst]uint8
	why   [mbuf.MaxBurst]DropReason
}

// retrySend offers again what a port has not taken, v[sent:n], and returns how many of
// v[:n] have left. The others are in drop: of a full port, or one that is down, all that
// follow; a packet that it does not take alone, and those behind it are offered.
//
//go:noinline
func retrySend(q Queue, v, drop *mbuf.Vec, n, sent int, l *lost) int {
	total, place := sent, sent
	n = copy(v[:], v[sent:n])
	for tries := 0; n > 0; {
		why := refusalOf(q)
		switch {
		case why == DropTxFull && tries < txRetries:
			tries++
		default:
			gone := 1
			if why == DropTxFull || why == DropTxDown {
				gone = n
			}
			for i, m := range v[:gone] {
				drop[l.n], l.place[l.n], l.why[l.n] = m, uint8(place+i), why
				l.n++
			}
			place += gone
			n = copy(v[:], v[gone:n])
		}
		if n > 0 {
			sent = q.TxBurst(v, n)
			total, place = total+sent, place+sent
			n = copy(v[:], v[sent:n])
		}
	}
	return total
}
