// Ports in memory for tests: frames that arrive, frames that were transmitted.

// Package enginetest is a worker's world in memory, for tests: ports that deliver frames
// and keep what is transmitted (port.go), and what arrives at a collector (reports.go).
//
// A case of a packet, bytes in and bytes out, needs no worker: in engine/strip,
//
//	orig := flow.Frame(20, 1)                              // an intgen.Flow
//	marked, err := source.Insert(orig, hops)               // an intgen.Source
//	got, _ := stripped(t, locators(false)[source.Marking], marked, 0)
//
// and got is orig. With counters, drops or reports it is a test of package engine, whose bed
// (fixture_test.go) joins a worker to two Ports: what is put into Port.RX leaves by the other
// one's TX, and Sealed and Decoded give the reports.
//
// A case of an event is a timeline in engine/timeline_scenes_test.go: packets at times, and
// the thresholds; `go test ./engine -run TestTimelines -update` draws it into the section of
// docs/events.md that it names. A scene of bench/truth plants the event among others and
// states where it must be reported (scenes_*.go), which Model computes on its own.
package enginetest

import "intsink/dpdk/mbuf"

// Unlimited is the Room of a port that takes every packet.
const Unlimited = 1 << 30

// Port is an engine.Queue: it delivers the frames of RX and keeps copies of transmitted frames
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
