// For tests: what arrived at a collector, decoded.

package enginetest

import (
	"bytes"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/report"
	"intsink/engine/report/decode"
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

// Decoded returns the individual reports in payloads, as d decodes them. It fails the test where
// one is not sound.
func Decoded(t testing.TB, d *decode.Decoder, payloads [][]byte) (all []decode.Report) {
	t.Helper()
	for _, p := range payloads {
		m, err := d.Decode(p)
		if err != nil {
			t.Fatalf("%v: %x", err, p)
		}
		for i := range m.Reports {
			if m.Reports[i].Problem != "" {
				t.Fatalf("%s: %x", m.Reports[i].Problem, p)
			}
		}
		all = append(all, m.Reports...)
	}
	return all
}
