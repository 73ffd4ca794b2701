package engine

import (
	"bytes"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
)

func TestINTIsStrippedAndReported(t *testing.T) {
	b := newBed(t, nil)
	b.network.RX = [][]byte{withINT(t, plain(1), nil), plain(2)}
	b.Poll()
	if len(b.host.TX) != 2 || !bytes.Equal(b.host.TX[0], plain(1)) || !bytes.Equal(b.host.TX[1], plain(2)) {
		t.Fatalf("forwarded %x", b.host.TX)
	}
	b.step(2e6)
	got := b.sealed()
	if len(got) != 1 {
		t.Fatalf("%d report packets, want 1", len(got))
	}
	p := got[0]
	if want := []byte{2<<4 | 5>>2, 5 << 6 & 0xff, 0, 0, 0, 0, 0, 3}; !bytes.Equal(p[:8], want) {
		t.Errorf("group header %x, want %x", p[:8], want)
	}
	if p[8] != 1<<4|uint8(report.IPv4) || p[10] != 2 || p[11] != 0x20 {
		t.Errorf("individual report header %x: want RepType 1, InType 4, MD Length 2, F", p[8:12])
	}
	if fragment := p[8+12+8:]; !bytes.HasPrefix(withINT(t, plain(1), nil)[14:], bytes.TrimRight(fragment, "\x00")) {
		t.Errorf("the fragment is not the packet with INT: %x", fragment)
	}
	c := b.Snapshot()
	if c.Links[0].INT[inthdr.MD] != 1 || c.Reported[event.NewFlow] != 1 {
		t.Errorf("counters %+v", c)
	}
	b.balance()
}

func TestDiscardIsReportedFirst(t *testing.T) {
	b := newBed(t, nil)
	b.network.RX = [][]byte{withINT(t, plain(1), func(s *intgen.Source, _ []intgen.Hop) { s.Discard = true })}
	b.Poll()
	b.step(2e6)
	if len(b.host.TX) != 0 || len(b.sealed()) != 1 {
		t.Errorf("forwarded %d packets, want none and one report", len(b.host.TX))
	}
	b.balance()
	if c := b.Snapshot(); c.Links[0].Direction[burst.ToHost].Dropped[burst.DropDiscard] != 1 {
		t.Errorf("dropped %v", c.Links[0].Direction[burst.ToHost].Dropped)
	}
}

func TestChainsArePulledUp(t *testing.T) {
	b := newBed(t, nil)
	whole := withINT(t, plain(1), nil)
	for cut := 1; cut < len(whole); cut += 7 {
		b.host.TX = nil
		b.chained(whole, cut)
		if len(b.host.TX) != 1 || !bytes.Equal(b.host.TX[0], plain(1)) {
			t.Fatalf("cut at %d: forwarded %x", cut, b.host.TX)
		}
	}
	b.Close()
}

func TestSequenceNumbersCountShedPackets(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.Watches[0].Policy.Sample = 1 })
	for i := range 70 { // the ring holds 64
		b.network.RX = [][]byte{withINT(t, plain(i), nil)}
		b.Poll()
		b.step(2e6)
	}
	if got := len(b.sealed()); got != 64 {
		t.Fatalf("%d report packets left, want 64", got)
	}
	b.network.RX = [][]byte{withINT(t, plain(1), nil)}
	b.Poll()
	b.step(2e6)
	last := b.sealed()
	if len(last) != 1 || last[0][3] != 70 {
		t.Errorf("sequence number of the packet after six lost ones: %x, want 70", last)
	}
	if c := b.Snapshot(); c.Collectors[0].Dropped[reporting.DropRingFull] != 6 {
		t.Errorf("ring_full %d, want 6", c.Collectors[0].Dropped[reporting.DropRingFull])
	}
	b.balance()
}

func TestFlowEndIsReported(t *testing.T) {
	b := newBed(t, nil)
	b.network.RX = [][]byte{withINT(t, plain(1), nil)}
	b.Poll()
	for range 40 {
		b.step(1e9)
	}
	b.balance()
	c := b.Snapshot()
	if c.Reported[event.FlowEnd] != 1 || c.Flows != 0 {
		t.Errorf("flow_end %d, flows %d, want 1 and 0", c.Reported[event.FlowEnd], c.Flows)
	}
}

func TestReloadMatchesFlowsAgain(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.Watches[0].Policy.Sample = 1 })
	b.network.RX = [][]byte{withINT(t, plain(1), nil)}
	b.Poll()
	none := *b.rules
	none.Watches = nil
	b.Reload(&none)
	b.step(2e6)
	before := len(b.sealed())
	b.network.RX = [][]byte{withINT(t, plain(1), nil)}
	b.Poll()
	b.step(2e6)
	if before != 1 || len(b.sealed()) != 0 || len(b.host.TX) != 2 {
		t.Errorf("%d reports before; after the watch is gone packets pass without one", before)
	}
	b.balance()
}

// TestWithoutWatches: INT goes, is counted, and no flow is kept; what the port
// refuses is dropped like anything else.
func TestWithoutWatches(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.Watches = nil })
	b.host.Room = 2
	want := plain(1)
	b.network.RX = [][]byte{withINT(t, want, nil), withINT(t, want, nil), withINT(t, want, nil), want}
	b.Poll()
	b.step(2e6)
	c := b.Snapshot()
	d := c.Links[0].Direction[burst.ToHost]
	if d.Received != 4 || d.Forwarded != 2 || d.Dropped[burst.DropTxFull] != 2 || c.Links[0].INT[inthdr.MD] != 3 || c.Flows != 0 || len(b.sealed()) != 0 {
		t.Errorf("%+v, %d flows", c.Links[0], c.Flows)
	}
	for _, f := range b.host.TX {
		if !bytes.Equal(f, want) {
			t.Errorf("forwarded %x, want %x", f, want)
		}
	}
	b.balance()
}
