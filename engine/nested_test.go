package engine

import (
	"bytes"
	"testing"

	"intsink/engine/burst/bursttest"
	"intsink/engine/wire/inthdr"
)

// nestedBed reports all packets with INT, of both layers of tunnels.
func nestedBed(t *testing.T, changes ...func(*Rules)) *bed {
	return newBed(t, func(r *Rules) {
		r.INT = bursttest.InTunnels()
		r.Watches[0].Policy.Sample = 1
		for _, change := range changes {
			change(r)
		}
	})
}

// TestINTInBothLayers: the original leaves, wherever the first segment ends; one
// packet with INT, one report.
func TestINTInBothLayers(t *testing.T) {
	for _, n := range nestings() {
		t.Run(n.Name, func(t *testing.T) {
			orig, marked := n.Frames(t, nil)
			b := nestedBed(t)
			b.network.RX = [][]byte{bytes.Clone(marked), bytes.Clone(marked)} // the second is like the one before it
			b.Poll()
			if len(b.host.TX) != 2 || !bytes.Equal(b.host.TX[0], orig) || !bytes.Equal(b.host.TX[1], orig) {
				t.Fatalf("forwarded %x\nwant twice %x", b.host.TX, orig)
			}
			b.step(2e6)
			c := b.Snapshot()
			if b.sealed(); c.Links[0].INT[inthdr.MD] != 2 || c.Collectors[0].Reports != 2 || c.Links[0].Malformed != [inthdr.NumReasons]uint64{} {
				t.Errorf("%d packets with INT, %d reports, malformed %v", c.Links[0].INT[inthdr.MD], c.Collectors[0].Reports, c.Links[0].Malformed)
			}
			for cut := 1; cut < len(marked); cut += 7 {
				b.host.TX = nil
				if b.chained(marked, cut); len(b.host.TX) != 1 || !bytes.Equal(b.host.TX[0], orig) {
					t.Fatalf("cut at %d: forwarded %x\nwant %x", cut, b.host.TX, orig)
				}
			}
			b.Close()
		})
	}
}

// TestReportOfUnsoundInside: the report of malformed INT shows the packet as it
// leaves: the outer INT is gone.
func TestReportOfUnsoundInside(t *testing.T) {
	for _, n := range nestings() {
		_, marked := n.Frames(t, nil)
		marked[bytes.LastIndex(marked, []byte{0x20, 0, 5, 5})] = 0x70 // version 7
		b := nestedBed(t)
		b.reload(func(r *Rules) { r.Watches[0].Policy.Sample = 0 })
		b.network.RX = [][]byte{marked}
		b.Poll()
		b.step(2e6)
		var shown bool
		want := b.host.TX[0][:min(len(b.host.TX[0]), 128-4)]
		for _, p := range b.sealed() {
			shown = shown || bytes.Contains(p, want)
		}
		if !shown {
			t.Errorf("%s: no report shows %x", n.Name, want)
		}
		b.balance()
	}
}
