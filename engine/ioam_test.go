package engine

import (
	"bytes"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/ioam"
)

// plain6 is the n-th flow over IPv6, with so many bytes of hop-by-hop options that nobody knows.
func plain6(n, options int) []byte {
	f := intgen.NthFlow(n, false, true)
	if options > 0 {
		f.Extensions = []intgen.Extension{{Header: intgen.HopByHop, Options: append([]byte{0x1e, uint8(options - 2)}, make([]byte, options-2)...)}}
	}
	return f.Frame(40, 1)
}

func withIOAM(t *testing.T, orig []byte, change func(*intgen.IOAM, []intgen.Hop)) []byte {
	t.Helper()
	s := intgen.Source{Marking: intgen.ByIOAM}
	hops := []intgen.Hop{
		{NodeID: 3, Ingress: 31, Egress: 32, QueueOccupancy: 300, IngressTimestamp: 5_000_090_000},
		{NodeID: 2, Ingress: 21, Egress: 22, QueueOccupancy: 200, IngressTimestamp: 5_000_050_000},
		{NodeID: 1, Ingress: 11, Egress: 12, QueueOccupancy: 100, IngressTimestamp: 5_000_030_000},
	}
	if change != nil {
		change(&s.IOAM, hops)
	}
	b, err := s.Insert(orig, hops)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newIOAMBed(t *testing.T, change func(*Rules)) *bed {
	port := uint16(5000)
	return newBed(t, func(r *Rules) {
		r.INT = inthdr.Config{UDPPort: &port, Version2: true, Formats: inthdr.Formats{IOAM: &ioam.Config{Namespaces: []uint16{123}}}}
		if change != nil {
			change(r)
		}
	})
}

// TestIOAM: packets lose it, and count in their flow; their nodes are its path, queue 0 of a node fills, and a segment takes
// the time from one node's arrival to the next one's.
func TestIOAM(t *testing.T) {
	b := newIOAMBed(t, func(r *Rules) {
		p := &r.Watches[0].Policy
		p.Events |= event.Congestion.Set() | event.LinkLatency.Set()
		p.Thresholds.CongestionRaise, p.Thresholds.CongestionClear, p.Thresholds.CongestionQuota = 5000, 1000, 4
		p.Thresholds.LinkLatency = event.Deadband{Absolute: 10_000, Relative: 0.5, K: 1, N: 1, Interval: 1e6}
	})
	quiet := withIOAM(t, plain6(1, 0), nil)
	if got := b.send(quiet); len(got) != 1 {
		t.Fatalf("%d report packets of a new flow", len(got))
	}
	for range 20 {
		if got := b.send(quiet, quiet, quiet); len(got) != 0 {
			t.Fatalf("a quiet packet is reported: %v", got)
		}
	}
	full := withIOAM(t, plain6(1, 0), func(_ *intgen.IOAM, hops []intgen.Hop) { hops[1].QueueOccupancy = 90_000 })
	slow := withIOAM(t, plain6(1, 0), func(_ *intgen.IOAM, hops []intgen.Hop) { hops[0].IngressTimestamp += 900_000 })
	b.send(full, quiet, slow, slow, quiet)
	other := withIOAM(t, plain6(1, 0), func(_ *intgen.IOAM, hops []intgen.Hop) { hops[1].NodeID = 7 })
	b.send(other, other)
	for _, e := range []event.Event{event.NewFlow, event.Congestion, event.LinkLatency, event.PathChange} {
		if b.detector.Counters.Fired[e] == 0 {
			t.Errorf("no event %v", e)
		}
	}
	for i, f := range b.host.TX {
		if !bytes.Equal(f, plain6(1, 0)) {
			t.Fatalf("packet %d: %x", i, f)
		}
	}
	f := b.flows()[0]
	packets, _ := f.Totals()
	if len(b.host.TX) != 68 || packets != 68 || f.NumHops != 0 && f.NumHops != 3 || f.NumPaths == 0 {
		t.Errorf("%d packets left; flow of %d packets, %d hops, %d paths", len(b.host.TX), packets, f.NumHops, f.NumPaths)
	}
	if n := b.Snapshot().Links[0].INT[inthdr.IOAM]; n != 68 {
		t.Errorf("%d packets with IOAM are counted", n)
	}
}

// TestIOAMProbes: an active packet is read, and ends here; one without room counts as INT with M.
func TestIOAMProbes(t *testing.T) {
	b := newIOAMBed(t, nil)
	b.send(withIOAM(t, plain6(1, 0), func(x *intgen.IOAM, _ []intgen.Hop) { x.Active = true }))
	b.send(withIOAM(t, plain6(2, 0), func(x *intgen.IOAM, _ []intgen.Hop) { x.Overflow = true }))
	l := b.Snapshot().Links[0]
	if d := l.Direction[burst.ToHost]; d.Dropped[burst.DropCopy] != 1 || d.Forwarded != 1 || !bytes.Equal(b.host.TX[0], plain6(2, 0)) {
		t.Errorf("%+v", d)
	}
	if l.Flagged != [burst.NumFlags]uint64{burst.MTUExceeded: 1} || b.detector.Counters.Fired[event.NewFlow] != 2 {
		t.Errorf("flagged %v, %d new flows", l.Flagged, b.detector.Counters.Fired[event.NewFlow])
	}
}

// TestIOAMIsNotLearned: no template is made where IOAM may stand, of packets with IOAM, with INT or with neither: one that
// looks like them but for the bytes of its options loses its IOAM.
func TestIOAMIsNotLearned(t *testing.T) {
	withINT := func(orig []byte) []byte {
		s := intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 4}
		f, err := s.Insert(orig, []intgen.Hop{{NodeID: 1}})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	ours := func(x *intgen.IOAM, _ []intgen.Hop) {}
	foreign := func(x *intgen.IOAM, _ []intgen.Hop) { x.Namespace = 124 }
	long := len(withIOAM(t, plain6(1, 0), nil)) - len(plain6(1, 0)) - 2
	for _, watched := range []bool{true, false} {
		for _, portable := range []bool{false, true} {
			b := newIOAMBed(t, func(r *Rules) {
				if !watched {
					r.Watches = nil
				}
			})
			if portable {
				b.burst.Fast.Portable()
			}
			for range 10 {
				for _, x := range []struct{ sent, want []byte }{
					{plain6(1, long), plain6(1, long)},
					{withINT(plain6(1, long)), plain6(1, long)},
					{withIOAM(t, plain6(1, 0), foreign), withIOAM(t, plain6(1, 0), foreign)},
					{withIOAM(t, plain6(1, 0), ours), plain6(1, 0)},
					{withIOAM(t, withINT(plain6(1, 0)), ours), plain6(1, 0)},
					{withINT(plain6(1, 0)), plain6(1, 0)},
				} {
					n := len(b.host.TX)
					b.send(x.sent, x.sent)
					for _, got := range b.host.TX[n:] {
						if !bytes.Equal(got, x.want) {
							t.Fatalf("watched %v, portable %v: %x became %x", watched, portable, x.sent, got)
						}
					}
				}
				b.host.TX = b.host.TX[:0]
			}
			for _, x := range []struct {
				frame []byte
				want  bool
			}{{plain6(1, long), false}, {withIOAM(t, plain6(1, 0), ours), false}, {withINT(plain6(1, long)), false}, {withINT(plain6(1, 0)), true}} {
				if got := b.burst.Fast.Recognise(x.frame, len(x.frame)) != fast.None; got != x.want {
					t.Errorf("a template fits: %v, of %x", got, x.frame)
				}
			}
			if l := b.Snapshot().Links[0]; l.INT[inthdr.IOAM] != 40 || l.INT[inthdr.MD] != 40 {
				t.Errorf("watched %v: %v", watched, l.INT)
			}
		}
	}
}

// TestJumbogramsWithIOAM pass as they are, and are counted.
func TestJumbogramsWithIOAM(t *testing.T) {
	b := newIOAMBed(t, nil)
	frame := withIOAM(t, plain6(1, 0), nil)
	frame[18], frame[19] = 0, 0
	b.send(frame)
	if n := b.Snapshot().Links[0].Malformed[inthdr.ReasonTruncated]; n != 1 || !bytes.Equal(b.host.TX[0], frame) {
		t.Errorf("%d are counted; %x", n, b.host.TX[0])
	}
}

// TestIOAMByDevice: a watch takes flows by the nodes of their IOAM.
func TestIOAMByDevice(t *testing.T) {
	b := newIOAMBed(t, func(r *Rules) { r.Watches[0].Match.Device = []uint64{2} })
	for _, x := range []struct {
		node  uint32
		watch uint8
	}{{2, 0}, {7, watch.None}, {2, 0}} {
		frame := withIOAM(t, plain6(1, 0), func(_ *intgen.IOAM, hops []intgen.Hop) { hops[1].NodeID = x.node })
		b.send(frame, frame)
		b.send(frame)
		if f := b.flows()[0]; f.Watch != x.watch {
			t.Errorf("node %d: watch %d, want %d", x.node, f.Watch, x.watch)
		}
	}
}
