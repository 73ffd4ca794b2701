// For tests: what arrived at a collector.

package enginetest

import (
	"bytes"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/wire/report"
)

// Sealed takes the report packets out of r, and frees them into pool: their UDP payloads.
func Sealed(r *ring.Ring, pool *mbuf.Arena) (payloads [][]byte) {
	v := new(mbuf.Vec) // which no C sees
	for n := r.Pop(v, mbuf.MaxBurst); n > 0; n = r.Pop(v, mbuf.MaxBurst) {
		for _, m := range v[:n] {
			_, payload := report.TakeHandoff(m.Bytes())
			payloads = append(payloads, bytes.Clone(payload))
		}
		pool.FreeBulk(v, n)
	}
	return payloads
}
