package rules

import (
	"testing"
	"unsafe"

	"intsink/conf"
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	stage "intsink/engine/stage/report"
	"intsink/engine/watch"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// TestSizesAgree: the limits that conf checks are those of the packages that enforce them, which
// conf does not import.
func TestSizesAgree(t *testing.T) {
	for _, s := range []struct {
		name      string
		conf, own int
	}{
		{"watches", conf.MaxWatches, watch.Max},
		{"collectors of a watch", conf.MaxCollectors, int(unsafe.Sizeof(watch.Watch{}.Collectors)) * 8},
		{"priorities", conf.Priorities, int(event.NumPriorities)},
		{"bytes of a flow", conf.FlowBytes, flows.Bytes},
		{"fragment", conf.MaxFragment, stage.MaxFragment},
		{"burst", conf.Burst, mbuf.MaxBurst},
	} {
		t.Run(s.name, func(t *testing.T) {
			if s.conf != s.own {
				t.Errorf("%s: %d in conf, %d", s.name, s.conf, s.own)
			}
		})
	}
	for _, capacity := range []int{16, 17, 1000, 1024, 1_100_000, 1 << 28} {
		if f := (conf.Flows{Capacity: capacity}); f.Places() != flows.Places(capacity) {
			t.Errorf("capacity %d: %d places in conf, %d", capacity, f.Places(), flows.Places(capacity))
		}
	}
	if least := 128 + report.HandoffLen; conf.ReportRoom < least {
		t.Errorf("a report packet has %d bytes in front, its headers and the handoff need %d", conf.ReportRoom, least)
	}
}
