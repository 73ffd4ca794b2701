package engine

import (
	"reflect"
	"testing"

	"intsink/engine/enginetest"
	"intsink/engine/metric"
	"intsink/engine/reporting"
	"intsink/flows"
)

// fill sets every number in counters, a pointer, to another value from first on.
func fill(counters any, first int) {
	enginetest.Numbers(reflect.ValueOf(counters), func(_ string, v reflect.Value) {
		v.Set(reflect.ValueOf(first).Convert(v.Type()))
		first++
	})
}

func valuesOf(counters any) map[string]int {
	all := map[string]int{}
	enginetest.Numbers(reflect.ValueOf(counters), func(path string, v reflect.Value) {
		all[path] = int(v.Convert(reflect.TypeFor[int]()).Int())
	})
	return all
}

// TestAddSumsEveryCounter: a field that Add forgets would show what one worker has counted, or
// nothing.
func TestAddSumsEveryCounter(t *testing.T) {
	var links, moreLinks LinkCounters
	var collectors, moreCollectors reporting.CollectorCounters
	for _, c := range []struct {
		name      string
		sum, more any
		add       func()
	}{
		{"link", &links, &moreLinks, func() { links.Add(&moreLinks) }},
		{"collector", &collectors, &moreCollectors, func() { metric.Add(&collectors, &moreCollectors) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			fill(c.sum, 1000)
			fill(c.more, 100_000)
			was, more := valuesOf(c.sum), valuesOf(c.more)
			c.add()
			for path, got := range valuesOf(c.sum) {
				if got != was[path]+more[path] {
					t.Errorf("%s: %d and %d add up to %d", path, was[path], more[path], got)
				}
			}
		})
	}
}

// TestPublishCopiesEveryCounter: whatever the parts of a worker count is in its Snapshot. A
// counter that publish does not copy from the part that counts it would stay zero in /metrics.
func TestPublishCopiesEveryCounter(t *testing.T) {
	b := newBed(t, nil)
	b.remake(func(c *WorkerConfig) { c.Flows.Capacity = 16 })
	fill(b.counters.Links, 1)
	fill(&b.counters.Reported, 1000)
	fill(&b.counters.Shed, 2000)
	fill(&b.counters.News, 2500)
	fill(b.counters.Collectors, 3000)
	fill(&b.detector.Counters, 4000)
	fill(&b.pace.Pace, 6000)
	fill(&b.counters.Recorder, 7000)
	b.detector.Stretch = 300
	keys, found := make([]flows.Key, 1), make([]*flows.Flow, 1)
	for n := uint32(1); b.table.Refused() == 0; n++ { // a flood at one time: first flows are evicted, then packets refused
		keys[0].SetIPv4(n, n)
		keys[0].SetPorts(4, 17, 1, 2)
		b.table.LookupBurst(b.now, keys, []uint64{b.table.Hash(&keys[0])}, found)
	}
	b.Publish()
	s := b.Snapshot()
	for path, n := range valuesOf(&s) {
		if n == 0 {
			t.Errorf("Snapshot has no %s: publish does not copy it, or this test does not make it count", path)
		}
	}
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"links", s.Links, b.counters.Links}, {"reported", &s.Reported, &b.counters.Reported}, {"shed", &s.Shed, &b.counters.Shed},
		{"collectors", s.Collectors, b.counters.Collectors}, {"detector", &s.Detector, &b.detector.Counters}, {"pace", &s.Pace, &b.pace.Pace},
		{"recorder", &s.Recorder, &b.counters.Recorder},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := valuesOf(c.got)
			for path, want := range valuesOf(c.want) {
				if got[path] != want {
					t.Errorf("%s%s is %d, want %d", c.name, path, got[path], want)
				}
			}
		})
	}
	if s.Flows != uint64(b.table.Len()) || s.Evictions != b.table.Evictions() || s.Refused != b.table.Refused() || s.Stretch != 300 {
		t.Errorf("flows %d, evicted %d, refused %d, stretch %d", s.Flows, s.Evictions, s.Refused, s.Stretch)
	}
}
