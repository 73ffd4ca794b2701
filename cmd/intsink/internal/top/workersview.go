// The view workers: flows and pauses.

package top

import (
	"fmt"
	"math"
	"strings"

	"intsink/cmd/intsink/internal/status"
)

func workersOf(s, _ *status.Status) *table {
	t := newTable("worker", ">lcore", ">flows", ">capacity", "?>evicted", "?>refused", "?>pause at most", "?pauses longer than")
	for _, w := range s.Workers {
		t.add(
			w.Name, fmt.Sprint(w.Lcore), count(float64(w.Flows)), count(float64(w.FlowCapacity)), count(float64(w.Evictions)), count(float64(w.Refusals)),
			latencyText(new(uint32(min(w.LongestPollGapNs, math.MaxUint32)))), strings.ReplaceAll(reasons(w.PollGapsOver), "µs", "us"),
		)
	}
	return t
}
