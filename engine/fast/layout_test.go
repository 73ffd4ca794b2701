//go:build cgo

package fast

import (
	"math/bits"
	"slices"
	"sort"
	"testing"
	"unsafe"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/flows"
)

// TestLayout: every struct that C and Go share has its fields at the same places.
func TestLayout(t *testing.T) {
	var p *shape
	var k *Template
	var c *sum
	var s *State
	var e end
	var l Loop
	tickShift := uintptr(bits.TrailingZeros64(uint64(sort.Search(1<<30, func(t int) bool { return flows.Tick(int64(t)) > 0 }))))
	m := mbuf.Layout()
	want := slices.Concat([]uintptr{m[0], m[1], m[6], m[7]}, flows.Layout(), event.FastLayout(), []uintptr{
		unsafe.Sizeof(p.block[0]), unsafe.Offsetof(p.block[0].mask), unsafe.Offsetof(p.block[0].length), unsafe.Sizeof(s.kinds[0]), unsafe.Sizeof(k.patch[0]), unsafe.Offsetof(k.patch[0].flip),
		unsafe.Sizeof(*p), unsafe.Offsetof(p.lengthAt), unsafe.Offsetof(p.at), unsafe.Offsetof(p.variantMask), unsafe.Offsetof(p.variant), unsafe.Offsetof(p.block),
		unsafe.Sizeof(*k), unsafe.Offsetof(k.at), unsafe.Offsetof(k.specialAt), unsafe.Offsetof(k.plain), unsafe.Offsetof(k.next), unsafe.Offsetof(k.addresses), unsafe.Offsetof(k.keyRest),
		unsafe.Offsetof(k.flagsAt), unsafe.Offsetof(k.egress), unsafe.Offsetof(k.l4UDP), unsafe.Offsetof(k.stack), unsafe.Offsetof(k.removed), unsafe.Offsetof(k.portMask), unsafe.Offsetof(k.patches),
		unsafe.Offsetof(k.sumRemoved), unsafe.Offsetof(k.l4SumAdd), unsafe.Offsetof(k.inFlow), unsafe.Offsetof(k.shorten), unsafe.Offsetof(k.pieces), unsafe.Offsetof(k.last), unsafe.Offsetof(k.patch), unsafe.Offsetof(k.block),
		unsafe.Offsetof(k.checks), unsafe.Offsetof(k.edits), unsafe.Offsetof(k.length), unsafe.Offsetof(k.sum), unsafe.Offsetof(k.edit), unsafe.Offsetof(k.hopOrder), unsafe.Offsetof(k.hopWord), unsafe.Offsetof(k.lanes), unsafe.Offsetof(k.sumFrom), unsafe.Offsetof(k.links), unsafe.Offsetof(k.sound), unsafe.Offsetof(k.numberAt), unsafe.Offsetof(k.dscp), unsafe.Offsetof(k.latency), event.NodesAlone, event.NoLatency,
		event.SizeOfModel, unsafe.Sizeof(event.FastBand{}),
		unsafe.Sizeof(*c), unsafe.Offsetof(c.removed), unsafe.Offsetof(c.add), unsafe.Sizeof(edit{}),
		unsafe.Sizeof(*s), unsafe.Offsetof(s.index), unsafe.Offsetof(s.view), unsafe.Offsetof(s.vec), unsafe.Offsetof(s.n), unsafe.Offsetof(s.refresh), unsafe.Offsetof(s.look),
		unsafe.Offsetof(s.now), unsafe.Offsetof(s.factsKey), unsafe.Offsetof(s.MX), unsafe.Offsetof(s.linkNumber), unsafe.Offsetof(s.ints), unsafe.Offsetof(s.Unknown), unsafe.Offsetof(s.Samples), unsafe.Offsetof(s.At), unsafe.Offsetof(s.deferredAt),
		unsafe.Offsetof(s.Hashes), unsafe.Offsetof(s.Flows), unsafe.Offsetof(s.Keys), unsafe.Offsetof(s.hintKey), unsafe.Offsetof(s.hints), unsafe.Offsetof(s.guesses), unsafe.Offsetof(s.kinds), unsafe.Offsetof(s.ofKind), unsafe.Offsetof(s.shape), unsafe.Offsetof(s.templates),
		unsafe.Sizeof(mbuf.CQueue{}), unsafe.Sizeof(e), unsafe.Offsetof(e.Received), unsafe.Offsetof(e.MX), unsafe.Offsetof(e.state), unsafe.Sizeof(l), unsafe.Offsetof(l.announced), unsafe.Offsetof(l.back), unsafe.Offsetof(l.at), unsafe.Offsetof(l.Until), unsafe.Offsetof(l.MostEmpty),
		unsafe.Offsetof(l.Reason), unsafe.Offsetof(l.Received), unsafe.Offsetof(l.Empty), unsafe.Offsetof(l.done), unsafe.Offsetof(l.Now), unsafe.Offsetof(l.Last), unsafe.Offsetof(l.Tally), unsafe.Offsetof(l.Polls), unsafe.Offsetof(l.Bursts), unsafe.Offsetof(l.Packets), unsafe.Offsetof(l.ends),
		tickShift, flows.RefreshShift, uintptr(event.Sample.Set()), MaxLinks, burstSizes,
	})
	got := layout()
	if len(got) != len(want) {
		t.Fatalf("C has %d numbers, Go %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("number %d: C has %d, Go %d", i, got[i], want[i])
		}
	}
}
