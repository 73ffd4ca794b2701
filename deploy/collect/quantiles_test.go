//go:build engines

package collect

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"intsink/exporters/record"
)

// TestQuantilesAreNearTheExactOnes: quantiles of int.hops, whose states were merged out of several blocks, have the ranks among all values
// that docs/queries.md says.
func TestQuantilesAreNearTheExactOnes(t *testing.T) {
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	random := rand.New(rand.NewPCG(1, 2))
	latencies := []func() float64{ // of nodes 1, 2 and 3
		func() float64 { return 500 + 2000*random.Float64() },
		func() float64 { return math.Exp(7 + 2*random.NormFloat64()) }, // a long tail
		func() float64 { return float64(1000 + 9000*(random.IntN(20)/19)) },
	}
	const blocks, reports = 5, 4000
	all := make([][]uint32, len(latencies))
	at := time.Now().Truncate(time.Minute).Add(-time.Hour)
	for b := range blocks {
		n := &network{now: at, start: 1, sequence: [3]uint64{1: uint64(b * reports)}}
		for range reports {
			var hops []record.Hop
			for i, latency := range latencies {
				ns := uint32(min(latency(), math.MaxUint32))
				all[i] = append(all[i], ns)
				hops = append(hops, hop(uint32(i+1), ns, 1))
			}
			n.report(1, 1, 0, "sample", nil, hops...)
		}
		columns := record.NewColumns()
		for _, r := range n.all {
			columns.Append(r)
		}
		c.insertColumns(columns)
	}
	for i, values := range all {
		slices.Sort(values)
		var row struct{ Q []float64 }
		if err := json.Unmarshal([]byte(c.must("SELECT quantilesTDigestMerge(0.5, 0.9, 0.99)(latency) AS q FROM int.hops WHERE node = "+string(rune('1'+i)))), &row); err != nil {
			t.Fatal(err)
		}
		for k, p := range []float64{0.5, 0.9, 0.99} {
			off := [...]float64{0.01, 0.005, 0.002}[k]
			least, most := values[int((p-off)*float64(len(values)))], values[int((p+off)*float64(len(values)))]
			if got := row.Q[k]; got < float64(least) || got > float64(most) {
				t.Errorf("node %d: quantile %v is %v, want %v to %v", i+1, p, got, least, most)
			}
		}
	}
}
