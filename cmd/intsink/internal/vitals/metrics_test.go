package vitals

import (
	"fmt"
	"strings"
	"testing"

	"intsink/conf"
	"intsink/engine"
	"intsink/engine/enginetest/workertest"
	"intsink/engine/histogram"
	"intsink/engine/metric"
	"intsink/engine/reporting"
	"intsink/exporters/udp"
)

// lines are the samples of metrics, a line each.
type lines struct {
	strings.Builder
	name string
}

func linesOf(all []metric.Bound) string {
	x := &lines{}
	for _, m := range all {
		x.name = m.Name
		m.Samples(x)
	}
	return x.String()
}

func (x *lines) Add(value uint64, labels ...any) { fmt.Fprintln(x, x.name, labels, value) }
func (x *lines) Seconds(ns int64, labels ...any) { fmt.Fprintln(x, x.name, labels, ns) }
func (x *lines) Times(h *histogram.Histogram, first int, labels ...any) {
	below := uint64(0)
	for _, n := range h.Classes[:first+1] {
		below += n
	}
	fmt.Fprintln(x, x.name, labels, below, h.Classes[first+1:], h.Sum)
}
func (x *lines) Sizes(bounds []int, classes []uint64, sum uint64, labels ...any) {
	fmt.Fprintln(x, x.name, labels, bounds, classes, sum)
}

// TestSentIsNeverMoreThanSealed: the exporter is ahead of what a worker has
// published.
func TestSentIsNeverMoreThanSealed(t *testing.T) {
	e := udp.New(udp.Config{})
	s := &Server{Config: func() *conf.Config { return &conf.Config{} }, Collectors: func() []Collector { return []Collector{{Name: "primary", Exporter: e}} }}
	e.Packets.Store(10)
	sealed := func(n uint64) []engine.Counters {
		return []engine.Counters{{Counters: reporting.Counters{Collectors: []reporting.CollectorCounters{{Name: "other", Packets: 3}, {Name: "primary", Packets: n}}}}}
	}
	for published, want := range map[uint64]uint64{7: 7, 10: 10, 12: 10} {
		text := linesOf(s.workerMetrics(sealed(published), s.exported()))
		if line := fmt.Sprintln("intsink_report_packets_sent_total", "[collector primary]", want); !strings.Contains(text, line) {
			t.Errorf("%d sealed: no %q in %s", published, line, text)
		}
	}
}

func TestHealthBeforeTheFirstPoll(t *testing.T) {
	w := workertest.New(t, nil)
	const start = 1_700_000_000_000_000_000
	s := &Server{Workers: []*engine.Worker{w}, Clock: func() int64 { return start }}
	if err := s.Healthy(); err == nil || err.Error() != "worker w0 has not polled yet" {
		t.Errorf("%v", err)
	}
	w.Tick(start)
	if err := s.Healthy(); err != nil {
		t.Error(err)
	}
}

// TestPollGaps: gaps that are not told apart are in the first class.
func TestPollGaps(t *testing.T) {
	var p engine.Pace
	p.Polls, p.TotalNs = [2]uint64{90, 10}, 5e9
	p.Gaps.Observe(100e3)
	p.Gaps.Observe(3e6)
	p.Gaps.Observe(20e9)
	h := pollGaps(&p)
	if h.Classes[0] != 97 || h.Sum != 5e9 {
		t.Errorf("%+v", h)
	}
}
