package fast

import (
	"fmt"
	"testing"

	"intsink/engine/wire/intgen"
)

// TestCrowdedTable: in a table that is four fifths full, where many flows are not in the first bucket of theirs, the flow
// of each packet is found without Go.
func TestCrowdedTable(t *testing.T) {
	const flows = 800 // of 1024 places
	for _, portable := range []bool{false, true} {
		t.Run(fmt.Sprintf("portable %v", portable), func(t *testing.T) {
			w := newWorld(t, anyMarking(intgen.ByPort, false), everyEvent()[:1], portable)
			packet := func(i int) []byte { return marked(t, intgen.NthFlow(i, i%2 == 0, false), 0xf000, 1) }
			for i := range flows {
				w.of(packet(i))
			}
			if w.table.Len() != flows || w.table.Evictions() != 0 {
				t.Fatalf("%d flows after %d evictions, want %d after none", w.table.Len(), w.table.Evictions(), flows)
			}
			for i := range flows {
				w.of(packet(i))
				if w.Missing != 0 || w.Flows[0] != w.table.Find(&w.Keys[0]) {
					t.Fatalf("flow %d: missing %b, found %p, want %p", i, w.Missing, w.Flows[0], w.table.Find(&w.Keys[0]))
				}
			}
			w.of(packet(flows))
			if w.Missing != 1 {
				t.Error("a flow that is not there was found")
			}
		})
	}
}
