//go:build !race

package mempool_test

import (
	"testing"

	"intsink/dpdk/mbuf"
)

func TestBulkDoesNotAllocate(t *testing.T) {
	p, v := pool(t, 255, 0, 256), mbuf.NewVec()
	if n := testing.AllocsPerRun(100, func() { p.AllocBulk(v, 64); p.Prefetch(v, 64); p.FreeBulk(v, 64) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAllocFreeBulk(b *testing.B) {
	p, v := pool(b, 255, 0, 256), mbuf.NewVec()
	b.ReportAllocs()
	for i := 0; i < b.N; i += mbuf.MaxBurst {
		p.AllocBulk(v, mbuf.MaxBurst)
		p.FreeBulk(v, mbuf.MaxBurst)
	}
}
