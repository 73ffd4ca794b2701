// Transmits a burst of report packets with bounded retries; what the port refused and why.

package port

import "intsink/dpdk/mbuf"

// txRetries bounds how often a full queue is tried again, as the engine does
// with packets: the worker must not stall.
const txRetries = 8

// refuser is a Queue that says why it did not take the packet behind those that it took, as
// afpacket.Queue does. The others are full.
type refuser interface{ Refusal() mbuf.Refusal }

func refusalOf(q Queue) mbuf.Refusal {
	if r, ok := q.(refuser); ok {
		return r.Refusal()
	}
	return mbuf.RefusedFull
}

// outcome is what became of a burst.
type outcome struct {
	left    uint64 // bit i: packet i has left
	tooLong int    // dropped: they exceed the MTU of the port
	refused int    // dropped: the port takes no more, or is down
}

// transmit sends v[:n]; what does not leave is freed. A packet that the port will never take
// costs itself only. The contents of v are used up.
func transmit(q Queue, pool Pool, v *mbuf.Vec, n int) (o outcome) {
	for tries, place := 0, 0; n > 0; {
		sent := q.TxBurst(v, n)
		o.left |= (1<<sent - 1) << place
		place += sent
		if n = copy(v[:], v[sent:n]); n == 0 {
			break
		}
		lost := 0
		switch why := refusalOf(q); {
		case why == mbuf.RefusedTooLong:
			lost = 1
			o.tooLong++
		case why == mbuf.RefusedFrame:
			lost = 1
			o.refused++
		case why == mbuf.RefusedFull && tries < txRetries:
			tries++
		default:
			lost = n
			o.refused += n
		}
		pool.FreeBulk(v, lost)
		place += lost
		n = copy(v[:], v[lost:n])
	}
	return o
}
