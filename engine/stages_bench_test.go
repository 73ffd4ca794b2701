//go:build !race

package engine

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkStages shows where the time of an INT packet goes, in nanoseconds per
// packet and stage, with few flows (compute alone) and more (cache misses too).
func BenchmarkStages(b *testing.B) {
	for _, n := range []int{1, 64, 1000} {
		b.Run(fmt.Sprintf("flows=%d", n), func(b *testing.B) {
			w, q, bed := steadyBed(b, nil)
			q.frames = q.frames[:n]
			var spent [5]time.Duration
			p, x := &w.links[0], w.burst
			for i := 0; i < b.N; i += len(q.mbufs) {
				bed.now += 1000
				x.n, x.now = p.link.Network.RxBurst(x.vec), bed.now
				for s, stage := range []func(){
					func() { w.parse(p, x) },
					func() { w.lookup(x) },
					func() { w.detect(p, x) },
					func() { w.strip(p, x) },
					func() { w.exchange(p, x) },
				} {
					start := time.Now()
					stage()
					spent[s] += time.Since(start)
				}
			}
			for s, name := range []string{"parse", "lookup", "detect", "strip", "transmit"} {
				b.ReportMetric(float64(spent[s].Nanoseconds())/float64(b.N), name+"-ns")
			}
		})
	}
}
