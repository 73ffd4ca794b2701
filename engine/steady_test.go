//go:build !race

package engine

import (
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside/recorder"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/wire/report"
)

// steadyQueue delivers the same packets in the same mbufs each time, and keeps
// what is transmitted for the next time: it allocates nothing.
type steadyQueue struct {
	frames [][]byte
	mbufs  []*mbuf.Mbuf
	next   int
	calls  int // of any method, each one call into C on a real port
}

func (q *steadyQueue) RxBurst(v *mbuf.Vec) int {
	q.calls++
	for i, m := range q.mbufs {
		m.Reset(128)
		f := q.frames[(q.next+i)%len(q.frames)]
		copy(m.SetLen(len(f)), f)
		v[i] = m
	}
	q.next += len(q.mbufs)
	return len(q.mbufs)
}

func (q *steadyQueue) TxBurst(_ *mbuf.Vec, n int) int {
	q.calls++
	return n
}

func (q *steadyQueue) Exchange(_ *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return n, q.RxBurst(rx)
}

// quiet is a port that nothing arrives on.
type quiet struct{ *steadyQueue }

func (q quiet) Exchange(_ *mbuf.Vec, n int, _ *mbuf.Vec) (sent, received int) {
	q.calls++
	return n, 0
}

func steadyBed(t testing.TB, change func(*Rules)) (*Worker, *steadyQueue, *bed) {
	tt, ok := t.(*testing.T)
	if !ok {
		tt = &testing.T{}
	}
	b := newBed(tt, change)
	b.remake(func(c *WorkerConfig) { c.Recorder = recorder.LeastMemory })
	q := &steadyQueue{}
	v := mbuf.NewVec()
	b.pool.AllocBulk(v, mbuf.MaxBurst)
	q.mbufs = append(q.mbufs, v[:]...)
	for n := range 1000 {
		q.frames = append(q.frames, withINT(t, plain(n), nil))
	}
	b.links[0].Network, b.links[0].Host = q, quiet{q}
	return b.Worker, q, b
}

// TestNothingIsAllocatedPerPacket: neither on the quiet way nor with a report for
// every packet; and a poll is one call on either port, whatever it finds.
func TestNothingIsAllocatedPerPacket(t *testing.T) {
	for name, change := range map[string]func(*Rules){
		"strip, flows and events":   func(*Rules) {},
		"a report for every packet": func(r *Rules) { r.Watches[0].Policy.Sample = 1 },
		"a 1.0 report for each":     func(r *Rules) { r.Watches[0].Policy.Sample, r.Report.Format = 1, report.Format10 },
		"a report for each within a budget": func(r *Rules) {
			r.Watches[0].Policy.Sample = 1
			r.setBudgets(reporting.Budget{Packets: 1 << 40, Bits: 1 << 40, Burst: 60e9})
		},
		"a report for each beyond a budget": func(r *Rules) {
			r.Watches[0].Policy.Sample = 1
			r.setBudgets(reporting.Budget{Packets: 100, Bits: 1e6, Burst: 100e6})
		},
		"a 0.5 report for each": func(r *Rules) { r.Watches[0].Policy.Sample, r.Report.Format = 1, report.Format05 },
	} {
		w, q, b := steadyBed(t, change)
		free := mbuf.NewVec()
		poll := func() {
			b.now += 1000
			w.Poll()
			w.Tick(b.now)
			if n := b.ring.Pop(free, mbuf.MaxBurst); n > 0 {
				b.reports.FreeBulk(free, n)
			}
		}
		for range 50 {
			poll() // all flows are known now
		}
		before := q.calls
		if n := testing.AllocsPerRun(200, poll); n != 0 {
			t.Errorf("%s: %v allocations per burst", name, n)
		}
		if got := q.calls - before; got != 2*201 { // AllocsPerRun warms up once
			t.Errorf("%s: %d calls on ports for 201 polls, want one per port", name, got)
		}
		if w.rules.Watches[0].Policy.Sample == 1 && w.counters.Reported[event.Sample] == 0 {
			t.Errorf("%s: no report was built", name)
		}
		if c := w.counters.Recorder; w.rules.Watches[0].Policy.Sample == 1 && (c.Packets == 0 || c.LeftOut == [recorder.NumRefusals]uint64{}) {
			t.Errorf("%s: nothing was recorded, or left out: %+v", name, c)
		}
	}
}

// BenchmarkWorker is the worker's share of the reference input: a copy of 138
// bytes into the mbuf is part of it.
func BenchmarkWorker(b *testing.B) {
	w, _, bed := steadyBed(b, nil)
	b.ReportAllocs()
	for i := 0; i < b.N; i += mbuf.MaxBurst {
		bed.now += 1000
		w.Poll()
	}
}

// TestNothingIsAllocatedForTunnels: INT in both layers and cut reports neither.
func TestNothingIsAllocatedForTunnels(t *testing.T) {
	for _, n := range nestings() {
		_, marked := n.Frames(t, nil)
		b := nestedBed(t)
		b.remake(func(c *WorkerConfig) {
			c.Rules.Report.Fragment = 1500 // more than a report packet has room for
			c.Rules.setPayloads(120)
		})
		q := &steadyQueue{frames: [][]byte{marked}}
		v := mbuf.NewVec()
		b.pool.AllocBulk(v, mbuf.MaxBurst)
		q.mbufs = append(q.mbufs, v[:]...)
		b.links[0].Network, b.links[0].Host = q, quiet{q}
		free := mbuf.NewVec()
		allocated := testing.AllocsPerRun(100, func() {
			b.now += 1000
			b.Poll()
			for k := b.ring.Pop(free, mbuf.MaxBurst); k > 0; k = b.ring.Pop(free, mbuf.MaxBurst) {
				b.reports.FreeBulk(free, k)
			}
		})
		c := &b.counters.Collectors[0]
		if allocated != 0 || c.Reports == 0 || c.Dropped[reporting.DropTooBig] != 0 {
			t.Errorf("%s: %v allocations per burst, %d reports, dropped %v", n.Name, allocated, c.Reports, c.Dropped)
		}
	}
}
