//go:build !race

package engine

import (
	"slices"
	"testing"
	"time"

	"intsink/engine/inspect"
	"intsink/flows"
)

// crowd puts n flows into the worker's table.
func (b *bed) crowd(n int) {
	b.table = flows.New(flows.Config{Capacity: n, Seed: 7, IdleTimeout: 1 << 60})
	for first := 0; first < n; first += 64 {
		var keys [64]flows.Key
		var hashes [64]uint64
		var out [64]*flows.Flow
		for j := range keys {
			keys[j] = keyOf(first + j)
			hashes[j] = b.table.Hash(&keys[j])
		}
		b.table.LookupBurst(b.now, keys[:], hashes[:], out[:])
		for j, f := range out {
			if f != nil {
				f.Count(uint16((first+j)%4096 + 60)) // ever more, so that many are among the best for a while
				f.PathHash, f.NumPaths = uint64(j), 1
			}
		}
	}
}

const million = 1 << 20

// TestSlicesAreBounded: over a table of a million flows no slice does more work
// than it may, and no tick, whatever is asked.
func TestSlicesAreBounded(t *testing.T) {
	b := newBed(t, nil)
	b.crowd(million)
	q := &PendingQuery{Query: inspect.New(inspect.BestFlows|inspect.PathTotals|inspect.Ways|inspect.Queues|inspect.Interfaces|inspect.Links, 1000)}
	q.Order = inspect.ByBytes
	b.Ask(q)
	b.step(tickNs)
	const flowAtMost = 64 // what the last flow of a slice may cost more
	ticks := 0
	for ; !q.Done(); ticks++ {
		tick := b.queries.work
		for range 20 { // polls in a millisecond
			before := b.queries.work
			b.queries.busy = true
			b.Tick(b.now)
			if work := before - b.queries.work; work > sliceWork+flowAtMost {
				t.Fatalf("a slice did %d units of work, at most %d are right", work, sliceWork)
			}
		}
		if work := tick - b.queries.work; work > tickWork+flowAtMost {
			t.Fatalf("a tick did %d units of work, at most %d are right", work, tickWork)
		}
		if ticks > 10_000 {
			t.Fatal("no answer")
		}
		b.step(tickNs)
	}
	if q.Scanned < million*9/10 || len(q.Best()) != 1000 {
		t.Errorf("scanned %d, found %d", q.Scanned, len(q.Best()))
	}
	t.Logf("%d flows in %d ticks of a millisecond", q.Scanned, ticks)
}

func TestAnswersAllocateNothing(t *testing.T) {
	b := newBed(t, nil)
	b.crowd(4096)
	q := &PendingQuery{Query: inspect.New(inspect.OneFlow|inspect.BestFlows|inspect.PathTotals|inspect.Ways|inspect.Queues|inspect.Interfaces|inspect.Links, 1000)}
	allocated := testing.AllocsPerRun(10, func() {
		q.done.Store(false)
		b.Ask(q)
		for !q.Done() {
			b.step(tickNs)
		}
	})
	if allocated != 0 {
		t.Errorf("%v allocations in an answer", allocated)
	}
}

// BenchmarkQuestion is a top-1000 over a million flows, between polls that find
// packets: how long slices take. The longest shows what else the machine does.
func BenchmarkQuestion(b *testing.B) {
	w := newBed(&testing.T{}, nil)
	w.crowd(million)
	var took []time.Duration
	for b.Loop() {
		q := &PendingQuery{Query: inspect.New(inspect.BestFlows, 1000)}
		q.Order = inspect.ByBytes
		w.Ask(q)
		w.step(tickNs)
		for !q.Done() {
			if w.queries.work <= 0 {
				w.queries.work = tickWork
			}
			w.queries.busy = true
			start := time.Now()
			w.serveQuery(w.now)
			took = append(took, time.Since(start))
		}
	}
	slices.Sort(took)
	sum := time.Duration(0)
	for _, d := range took {
		sum += d
	}
	b.ReportMetric(float64(sum.Nanoseconds())/float64(len(took)), "mean-slice-ns")
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-slice-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-slice-ns")
	b.ReportMetric(float64(took[len(took)-1].Nanoseconds()), "max-slice-ns")
	b.ReportMetric(sum.Seconds()*1000/float64(b.N), "work-ms/query")
}
