//go:build !race

package inspect

import (
	"slices"
	"testing"
	"time"

	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/flows"
)

const million = 1 << 20

// crowded is the aside of a worker with n flows.
func crowded(n int) *Aside {
	table := flows.New(flows.Config{Capacity: n, Seed: 7, IdleTimeout: 1 << 60})
	for first := 0; first < n; first += 64 {
		var keys [64]flows.Key
		var hashes [64]uint64
		var out [64]*flows.Flow
		for j := range keys {
			keys[j].SetIPv4(10<<24|uint32(first+j), 10<<24|1<<16|1)
			keys[j].SetPorts(4, 17, 1024, 8000)
			hashes[j] = table.Hash(&keys[j])
		}
		table.LookupBurst(1e9, keys[:], hashes[:], out[:])
		for j, f := range out {
			if f != nil {
				f.Count(uint16((first+j)%4096 + 60)) // ever more, so that many are among the best for a while
				f.PathHash, f.NumPaths = uint64(j), 1
			}
		}
	}
	a := NewAside(table, event.New(nil, 7), 7)
	a.Adopt(nil, 0)
	return a
}

// TestSlicesAreBounded: over a table of a million flows no slice does more work
// than it may, and no tick, whatever is asked.
func TestSlicesAreBounded(t *testing.T) {
	a := crowded(million)
	q := &PendingQuery{Query: New(BestFlows|PathTotals|Ways|Queues|Interfaces|Links, 1000)}
	q.Order = ByBytes
	a.Ask(q)
	const flowAtMost = 64 // what the last flow of a slice may cost more
	ticks, now := 0, int64(1e9)
	for ; !q.Done(); ticks++ {
		a.Tick(now)
		for range 20 { // polls in a millisecond
			if !a.Serving() {
				break
			}
			before := a.work
			a.Serve(now, true)
			if work := before - a.work; work > sliceWork+flowAtMost {
				t.Fatalf("a slice did %d units of work, at most %d are right", work, sliceWork)
			}
		}
		if work := tickWork - a.work; work > tickWork+flowAtMost {
			t.Fatalf("a tick did %d units of work, at most %d are right", work, tickWork)
		}
		if a.Serving() {
			a.Serve(now, false) // the rest of the tick
		}
		if ticks > 10_000 {
			t.Fatal("no answer")
		}
		now += 1e6
	}
	if q.Scanned < million*9/10 || len(q.Best()) != 1000 {
		t.Errorf("scanned %d, found %d", q.Scanned, len(q.Best()))
	}
	t.Logf("%d flows in %d ticks of a millisecond", q.Scanned, ticks)
}

// TestNewRulesStartTheAnswerAgain: what an answer holds is of one set of rules.
func TestNewRulesStartTheAnswerAgain(t *testing.T) {
	a := crowded(2)
	q := &PendingQuery{Query: New(BestFlows, 5)}
	a.Ask(q)
	a.Tick(1e9)
	a.work = 1
	a.Serve(1e9, true) // a slice of one flow, then the rules
	if q.Done() || q.Scanned == 0 {
		t.Fatalf("scanned %d flows, done: %v", q.Scanned, q.Done())
	}
	watches := []watch.Watch{{Name: "other"}}
	a.Adopt(watches, 1)
	for !q.Done() {
		a.Tick(1e9)
		a.Serve(1e9, true)
	}
	if &q.Watches[0] != &watches[0] || int(q.Scanned) != a.table.Len() {
		t.Errorf("scanned %d flows, watches %v", q.Scanned, q.Watches)
	}
}

func TestAnswersAllocateNothing(t *testing.T) {
	a := crowded(4096)
	q := &PendingQuery{Query: New(OneFlow|BestFlows|PathTotals|Ways|Queues|Interfaces|Links, 1000)}
	allocated := testing.AllocsPerRun(10, func() {
		q.done.Store(false)
		a.Ask(q)
		for !q.Done() {
			if a.Tick(1e9); a.Serving() {
				a.Serve(1e9, false)
			}
		}
	})
	if allocated != 0 {
		t.Errorf("%v allocations in an answer", allocated)
	}
}

// BenchmarkQuestion is a top-1000 over a million flows, between polls that find
// packets: how long slices take. The longest shows what else the machine does.
func BenchmarkQuestion(b *testing.B) {
	a := crowded(million)
	var took []time.Duration
	for b.Loop() {
		q := &PendingQuery{Query: New(BestFlows, 1000)}
		q.Order = ByBytes
		a.Ask(q)
		a.Tick(1e9)
		for !q.Done() {
			if a.work <= 0 {
				a.work = tickWork
			}
			start := time.Now()
			a.Serve(1e9, true)
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
