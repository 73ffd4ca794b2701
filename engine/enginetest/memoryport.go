// Ports in memory for tests: frames that arrive, frames that were transmitted.

package enginetest

import "intsink/dpdk/mbuf"

// Unlimited is the Room of a port that takes every packet.
const Unlimited = 1 << 30

// Port is an burst.Queue: it delivers the frames of RX and keeps copies of transmitted frames
// in TX.
type Port struct {
	Pool *mbuf.Arena
	RX   [][]byte
	TX   [][]byte
	Room int // packets that TxBurst still takes
}

// NewPort returns a port that takes every packet, with mbufs of pool.
func NewPort(pool *mbuf.Arena) *Port { return &Port{Pool: pool, Room: Unlimited} }

// RxBurst delivers the first frames of RX.
func (q *Port) RxBurst(v *mbuf.Vec) int {
	n := min(len(q.RX), len(v))
	if n == 0 || !q.Pool.AllocBulk(v, n) {
		return 0
	}
	for i, frame := range q.RX[:n] {
		copy(v[i].SetLen(len(frame)), frame)
	}
	q.RX = q.RX[n:]
	return n
}

// TxBurst takes packets as long as there is Room, and frees them.
func (q *Port) TxBurst(v *mbuf.Vec, n int) int {
	n = min(n, q.Room)
	q.Room -= n
	for _, m := range v[:n] {
		q.TX = append(q.TX, m.AppendTo(nil, m.PktLen()))
	}
	q.Pool.FreeBulk(v, n)
	return n
}

// Exchange is TxBurst and then RxBurst.
func (q *Port) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return q.TxBurst(tx, n), q.RxBurst(rx)
}
