package flowapi

import (
	"strings"
	"testing"

	"intsink/engine/event"
)

// TestHintOfLoads: loads up to 100 may be per cent; a load at which several interfaces stop, while others stay below, may be the full
// one; any other is only told. Loads of known units say nothing, unless they cannot be.
func TestHintOfLoads(t *testing.T) {
	for name, c := range map[string]struct {
		unknown []uint32
		known   uint32 // of one interface more, per cent
		want    string
	}{
		"nothing":         {},
		"known":           {known: 100},
		"idle":            {unknown: []uint32{0, 0, 0}},
		"per cent":        {unknown: []uint32{3, 87}, want: "seen is 87: where nodes write per cent, say so: node_model { tx_utilization_full = 100 }"},
		"full of 100":     {unknown: []uint32{100, 100, 100, 4}, want: "seen is 100: where"},
		"saturated":       {unknown: []uint32{9000, 10_000, 10_000, 10_000}, want: "3 of 4 interfaces went up to 10000, and none beyond: if that is the full load, say so: node_model { tx_utilization_full = 10000 }"},
		"two are chance":  {unknown: []uint32{9000, 10_000, 10_000}, want: "seen is 10000: what nodes write"},
		"all alike":       {unknown: []uint32{500, 500, 500}, want: "seen is 500: what nodes write"},
		"one":             {unknown: []uint32{8_123_456}, want: "seen is 8123456: what nodes write"},
		"cannot be":       {unknown: []uint32{50}, known: 9700, want: "node 9 writes loads up to 9700 % of what tx_utilization_full"},
		"a little beyond": {known: 103},
	} {
		l := newLoads()
		for n, load := range c.unknown {
			l.add(uint64(n)<<32|1, &event.Interface{Highest: load, Utilization: load / 2})
			l.add(uint64(n)<<32|1, &event.Interface{Highest: load / 2}) // of another worker
		}
		l.add(9<<32, &event.Interface{Highest: c.known, Percent: true})
		if got := l.hint(); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
