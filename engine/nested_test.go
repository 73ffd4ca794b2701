package engine

import (
	"bytes"
	"testing"

	"intsink/engine/burst/bursttest"
	"intsink/engine/wire/intgen"
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

// TestINTOfTheOuterLayer: where INT is looked for in the outermost layers alone, what is inside of
// a tunnel leaves as it was sent, with INT and without, by the long way and by a template.
func TestINTOfTheOuterLayer(t *testing.T) {
	for _, n := range bursttest.Nestings() {
		orig, want := bursttest.Plain(1), bursttest.WithINT(t, bursttest.Plain(1), nil)
		_, both := n.Frames(t, nil)
		frames, left := [][]byte{both}, [][]byte{want}
		if n.Tunnel != nil {
			orig, want = bursttest.Wrap(t, n.Tunnel, orig), bursttest.Wrap(t, n.Tunnel, want)
			frames, left = [][]byte{both, want, bursttest.WithINT(t, orig, bursttest.Like(n.Outer))}, [][]byte{want, want, orig}
		}
		b := nestedBed(t, func(r *Rules) { r.INT.Outer = true })
		for range 3 {
			b.network.RX = nil
			for _, f := range frames {
				b.network.RX = append(b.network.RX, bytes.Clone(f), bytes.Clone(f))
			}
			b.host.TX = nil
			b.Poll()
			if len(b.host.TX) != 2*len(frames) {
				t.Fatalf("%s: %d packets of %d", n.Name, len(b.host.TX), 2*len(frames))
			}
			for i, f := range b.host.TX {
				if !bytes.Equal(f, left[i/2]) {
					t.Errorf("%s: packet %d left as %x\nwant %x", n.Name, i, f, left[i/2])
				}
			}
		}
		b.step(2e6)
		b.sealed()
		if c := b.Snapshot(); c.Links[0].Malformed != [inthdr.NumReasons]uint64{} || c.Links[0].INT[inthdr.MD] != uint64(3*2*(len(frames)-len(frames)/3)) {
			t.Errorf("%s: %d packets with INT, malformed %v", n.Name, c.Links[0].INT[inthdr.MD], c.Links[0].Malformed)
		}
		b.balance()
		b.Close()
	}
}

// TestCopiedDSCPInside: a tunnel copied the DSCP that marks the INT inside of it. Where the outermost layers alone
// are the sink's, that is no malformed INT: the packet passes as it is.
func TestCopiedDSCPInside(t *testing.T) {
	inside := bursttest.WithINT(t, bursttest.Plain(1), bursttest.Like(intgen.Source{Marking: intgen.ByDSCP, DSCP: 23, Mask: 63}))
	frame := bursttest.Wrap(t, bursttest.Tunnel(intgen.VXLAN, true, nil), inside)
	frame[15] = 23 << 2
	bursttest.SetECN(frame, 14, 0) // and the checksum
	for _, outer := range []bool{false, true} {
		b := newBed(t, func(r *Rules) {
			r.INT = inthdr.Config{DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}, Version2: true, Outer: outer}
			r.DropMalformed = true
		})
		b.network.RX = [][]byte{bytes.Clone(frame)}
		b.Poll()
		if c := b.Snapshot(); len(b.host.TX) != 1 || bytes.Equal(b.host.TX[0], frame) != outer || c.Links[0].Malformed != [inthdr.NumReasons]uint64{} {
			t.Errorf("outer %v: left as %x, malformed %v", outer, b.host.TX, c.Links[0].Malformed)
		}
		b.Close()
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
