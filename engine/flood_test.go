//go:build !race

package engine

import (
	"encoding/binary"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
)

// flooded is a worker whose table the flood fills many times over. Of each burst two
// packets are of live flows, the rest are of flows that never come again.
type flooded struct {
	*Worker
	q    *steadyQueue
	b    *bed
	next uint32
}

const liveFlows = 64

func newFlooded(t testing.TB) *flooded {
	w, q, b := steadyBed(t, func(r *Rules) { r.Watches[0].Policy.Thresholds.NewFlowRate = 100 })
	f := &flooded{Worker: w, q: q, b: b, next: 1 << 16}
	q.frames = q.frames[:mbuf.MaxBurst]
	for i := range q.frames {
		q.frames[i] = withINT(t, plain(0), nil)
	}
	for n := range uint32(liveFlows) { // each has two packets: it has traffic
		f.live(n)
		f.Poll()
	}
	return f
}

// live makes two packets those of live flows, in turns.
func (f *flooded) live(n uint32) {
	for i := range uint32(2) {
		binary.BigEndian.PutUint32(f.q.frames[i][26:], 0x0a000000|(2*n+i)%liveFlows)
	}
}

func (f *flooded) poll() {
	f.next++
	f.live(f.next)
	for i, frame := range f.q.frames[2:] {
		binary.BigEndian.PutUint32(frame[26:], 0x0b000000|f.next<<6&0xffffff|uint32(i))
		binary.BigEndian.PutUint16(frame[34:], uint16(f.next>>18))
	}
	f.b.now += 13_000 // five million packets a second
	f.Poll()
	f.Tick(f.b.now)
	if n := f.b.ring.Pop(f.b.burst.Kept, mbuf.MaxBurst); n > 0 {
		f.b.reports.FreeBulk(f.b.burst.Kept, n)
	}
}

// TestFloodSparesFlowsWithTraffic: the table of 1024 flows is full, and turned over
// as fast as evictions are allowed; a live flow has a packet every 32 bursts. None of
// them is taken for new again, no memory is allocated, and all excess is counted.
func TestFloodSparesFlowsWithTraffic(t *testing.T) {
	f := newFlooded(t)
	before := f.detector.Counters
	const bursts = 20_000
	if n := testing.AllocsPerRun(bursts-1, f.poll); n != 0 {
		t.Errorf("%v allocations per burst", n)
	}
	f.b.Close()
	c := f.Snapshot()
	if got := c.Detector.Fired[event.NewFlow] - before.Fired[event.NewFlow] + c.Refused; got != bursts*(mbuf.MaxBurst-2) {
		t.Errorf("%d packets of new flows, want %d: live ones were evicted", got, bursts*(mbuf.MaxBurst-2))
	}
	// 100,000 evictions a second and 1000 at once, in bursts 13 us apart.
	if most := uint64(bursts*13/10 + 1000 + mbuf.MaxBurst); c.Flows > 1024 || c.Evictions > most || c.Evictions < most*9/10 {
		t.Errorf("%d flows, %d evictions, want about %d", c.Flows, c.Evictions, most)
	}
	suppressed := c.Detector.Suppressed[event.NewFlow][event.SuppressRate]
	if c.Reported[event.NewFlow]+suppressed != c.Detector.Fired[event.NewFlow] || c.Reported[event.NewFlow] > 150 {
		t.Errorf("%d new flows reported, %d withheld, of %d", c.Reported[event.NewFlow], suppressed, c.Detector.Fired[event.NewFlow])
	}
}

// BenchmarkFlood is BenchmarkWorker under a flood of new flows.
func BenchmarkFlood(b *testing.B) {
	f := newFlooded(b)
	b.ReportAllocs()
	for i := 0; i < b.N; i += mbuf.MaxBurst {
		f.poll()
	}
}
