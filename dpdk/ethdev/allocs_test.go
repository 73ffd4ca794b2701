//go:build !race

package ethdev_test

import (
	"testing"

	"intsink/dpdk/dpdktest"
	"intsink/dpdk/mbuf"
)

func TestBurstsDoNotAllocate(t *testing.T) {
	q := start(t, dpdktest.Null(2, 138), dpdktest.Pool(t, "allocs")).Queue(0)
	onWorker(t, func() {
		v := mbuf.NewVec()
		if n := testing.AllocsPerRun(1000, func() { q.TxBurst(v, q.RxBurst(v)) }); n != 0 {
			t.Errorf("%v allocations per burst", n)
		}
		other := mbuf.NewVec()
		received := q.RxBurst(v)
		if n := testing.AllocsPerRun(1000, func() {
			_, received = q.Exchange(v, received, other)
			v, other = other, v
		}); n != 0 {
			t.Errorf("%v allocations per exchange", n)
		}
		q.TxBurst(v, received)
	})
}
