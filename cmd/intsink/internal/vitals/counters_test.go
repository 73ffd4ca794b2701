package vitals

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"intsink/conf"
	"intsink/engine"
	"intsink/engine/enginetest"
	"intsink/engine/reporting"
)

// unwritten are the counters of workers that are in no metric: values that do not occur, gaps that
// are too short to be told apart (shortestGap), a sum that TotalNs has too, and
// RecentNs, by which the appliance judges its load.
var unwritten = regexp.MustCompile(`^\.(Links\[0\]\.Counters\.(Malformed|INT)\[0\]|Pace\.(Bursts\[0\]|Gaps\.Classes\[[1-6]\]|Gaps\.Sum|RecentNs))$`)

// TestEveryCounterIsWritten: each number that the second of two workers counts changes /metrics.
func TestEveryCounterIsWritten(t *testing.T) {
	s := &Server{Links: []string{"edge"}, Config: func() *conf.Config { return &conf.Config{} }}
	written := func(snapshots []engine.Counters) string {
		return linesOf(s.workerMetrics(snapshots, []exported{{Collector: Collector{Name: "c"}}}))
	}
	all := make([]engine.Counters, 2)
	for i := range all {
		all[i].Links = make([]engine.LinkCounters, 1)
		all[i].Collectors = []reporting.CollectorCounters{{Name: "c"}}
	}
	before := written(all)
	enginetest.Numbers(reflect.ValueOf(all[1:]), func(path string, v reflect.Value) {
		path = strings.TrimPrefix(path, "[0]")
		v.Set(reflect.ValueOf(1_000_000_000).Convert(v.Type()))
		if isWritten := written(all) != before; isWritten == unwritten.MatchString(path) {
			t.Errorf("%s, of the second worker: is it in /metrics? %t", path, isWritten)
		}
		v.SetZero()
	})
}
