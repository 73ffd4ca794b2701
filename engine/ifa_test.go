package engine

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/internal/checksum"
)

// anyIFA is IFA as it may come: mostly live, of 32 bytes.
func anyIFA(r *rand.Rand) intgen.Source {
	x := intgen.IFA{HopLen: []int{32, 32, 32, 28, 20}[r.IntN(5)], TTL: 60}
	switch r.IntN(10) {
	case 0:
		x.Copy = true
	case 1:
		x.Tail = true
	case 2:
		x.Checksum = true
	case 3:
		x.LNS, x.TTL = uint8(r.IntN(16)), uint8(r.IntN(200))
	}
	return intgen.Source{Marking: intgen.ByIFA, Formats: intgen.Formats{IFA: x}}
}

func withIFA(t *testing.T, orig []byte, change func(*intgen.IFA, []intgen.Hop)) []byte {
	t.Helper()
	s := intgen.Source{Marking: intgen.ByIFA}
	hops := []intgen.Hop{
		{NodeID: 3, Ingress: 31, Egress: 32, LatencyNs: 3000, QueueID: 3},
		{NodeID: 2, Ingress: 21, Egress: 22, LatencyNs: 2000, QueueID: 2},
		{NodeID: 1, Ingress: 11, Egress: 12, LatencyNs: 1000, QueueID: 1},
	}
	if change != nil {
		change(&s.IFA, hops)
	}
	b, err := s.Insert(orig, hops)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newIFABed(t *testing.T, strip bool) *bed {
	return newBed(t, func(r *Rules) {
		r.INT = inthdr.Config{Version2: true, Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, StripCopies: strip, MaxResidence: 1e9}}}
	})
}

// TestIFA: live packets with IFA lose it, by template, too, and count in their flow; their hops are its path, and a slow one
// an event.
func TestIFA(t *testing.T) {
	b := newIFABed(t, false)
	quiet := withIFA(t, plain(1), nil)
	if got := b.send(quiet); len(got) != 1 {
		t.Fatalf("%d report packets of a new flow", len(got))
	}
	for range 20 {
		if got := b.send(quiet, quiet, quiet); len(got) != 0 {
			t.Fatalf("a quiet packet is reported: %v", got)
		}
	}
	slow := withIFA(t, plain(1), func(_ *intgen.IFA, hops []intgen.Hop) { hops[1].LatencyNs = 900_000 })
	if got := b.send(slow, slow, slow, slow); len(got) == 0 {
		t.Error("no event of a slow hop")
	}
	for i, f := range b.host.TX {
		if !bytes.Equal(f, plain(1)) {
			t.Fatalf("packet %d: %x", i, f)
		}
	}
	f := b.flows()[0]
	packets, _ := f.Totals()
	if len(b.host.TX) != 65 || packets != 65 || f.NumHops != 3 || f.PathHops&0x3f != 3 {
		t.Errorf("%d packets left; flow of %d packets, %d hops, path of %d", len(b.host.TX), packets, f.NumHops, f.PathHops)
	}
	if n := b.Snapshot().Links[0].INT[inthdr.IFA]; n != 65 {
		t.Errorf("%d packets with IFA are counted", n)
	}
}

// TestIFACopies: a copy is read, and ends here or goes on, as the configuration says.
func TestIFACopies(t *testing.T) {
	copied := withIFA(t, plain(1), func(x *intgen.IFA, _ []intgen.Hop) { x.Copy = true })
	for _, strip := range []bool{false, true} {
		b := newIFABed(t, strip)
		for range 10 {
			b.send(copied, copied)
		}
		d, f := b.Snapshot().Links[0].Direction[burst.ToHost], b.flows()[0]
		dropped, packets := uint64(20), uint64(0)
		if strip {
			dropped, packets = 0, 20
		}
		counted, _ := f.Totals()
		if d.Dropped[burst.DropCopy] != dropped || d.Forwarded != 20-dropped || counted != packets || f.NumPaths != 1 || f.NumHops != 3 {
			t.Errorf("strip %v: %+v; flow of %d packets and %d hops", strip, d, counted, f.NumHops)
		}
		if n := b.detector.Counters.Fired[event.NewFlow]; n != 1 {
			t.Errorf("%d new flows", n)
		}
	}
}

// TestIFAValuesThatCannotBe: a residence time above the longest is unknown, in packets that C would pass, too.
func TestIFAValuesThatCannotBe(t *testing.T) {
	b := newIFABed(t, false)
	quiet := withIFA(t, plain(1), nil)
	for range 5 {
		b.send(quiet)
	}
	odd := withIFA(t, plain(1), func(_ *intgen.IFA, hops []intgen.Hop) { hops[1].LatencyNs = 1_000_000_730 })
	for range 20 {
		if got := b.send(odd); len(got) != 0 {
			t.Fatal("an event of a residence time that cannot be")
		}
	}
	for node, n := range b.OddValues().All {
		if node != 2 || n != 20 {
			t.Errorf("node %d is counted with %d values that cannot be", node, n)
		}
	}
	if b.OddValues().Others() != 0 || b.Snapshot().Links[0].INT[inthdr.IFA] != 25 {
		t.Errorf("%+v", b.OddValues())
	}
}

// TestIFAMarkedValuesThatCannotBe: packets that a queue has marked are looked at once more where one is drawn for the sample, and what
// cannot be counts once all the same.
func TestIFAMarkedValuesThatCannotBe(t *testing.T) {
	b := newIFABed(t, false)
	marked := plain(1)
	marked[15] |= 3 // CE
	marked[24], marked[25] = 0, 0
	binary.BigEndian.PutUint16(marked[24:], ^checksum.Sum(marked[14:34]))
	odd := withIFA(t, marked, func(_ *intgen.IFA, hops []intgen.Hop) { hops[1].LatencyNs = 1_000_000_730 })
	const n = 200
	for range n {
		b.send(odd)
	}
	for node, counted := range b.OddValues().All {
		if node != 2 || counted != n {
			t.Errorf("node %d is counted with %d values that cannot be, of %d", node, counted, n)
		}
	}
	if c := b.Snapshot().Links[0]; c.Marked != n || c.INT[inthdr.IFA] != n {
		t.Errorf("%d packets are marked, %d with IFA", c.Marked, c.INT[inthdr.IFA])
	}
}

// TestIFAInAnotherLayout: a stack that is as long as the one that a template was made of, and is none of Broadcom's: a hop of
// another namespace, a TTL that rises on the way, a time that cannot be. IFA goes, and every such packet is counted.
func TestIFAInAnotherLayout(t *testing.T) {
	const stack, hop = 14 + 20 + 4 + 8 + 4, 32
	quiet := withIFA(t, plain(1), nil)
	others := map[string]func(hop []byte){
		"namespace": func(hop []byte) { hop[0] ^= 0x20 },
		"TTL":       func(hop []byte) { hop[3] = 250 },
		"time":      func(hop []byte) { hop[12] |= 0x40 },
	}
	for name, change := range others {
		for _, watched := range []bool{true, false} {
			for _, portable := range []bool{false, true} {
				b := newBed(t, func(r *Rules) {
					r.INT = inthdr.Config{Version2: true, Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}}}
					if !watched {
						r.Watches = nil
					}
				})
				if portable {
					b.burst.Fast.Portable()
				}
				for range 5 {
					b.send(quiet, quiet)
				}
				for at := range 2 { // of the last hop, any TTL may be
					other := bytes.Clone(quiet)
					change(other[stack+at*hop:])
					b.send(quiet, other, quiet, other)
				}
				l := b.Snapshot().Links[0]
				none := l.NoLayout()
				if name != "namespace" && none["gns 15, lns 1"] != 4 || name == "namespace" && none["gns 15, lns 1"] != 2 {
					t.Errorf("%s: without a layout are %v", name, none)
				}
				if n := l.Malformed[inthdr.ReasonLayout]; n != 4 || l.INT[inthdr.IFA] != 18 {
					t.Errorf("%s, watched %v, portable %v: %d packets in another layout, %d with IFA", name, watched, portable, n, l.INT[inthdr.IFA])
				}
				for i, f := range b.host.TX {
					if !bytes.Equal(f, plain(1)) {
						t.Fatalf("%s: packet %d: %x", name, i, f)
					}
				}
			}
		}
	}
}

// TestIFAByDevice: a watch takes flows by the nodes of their IFA, and again when these change; hops without a layout are no
// evidence of a path.
func TestIFAByDevice(t *testing.T) {
	b := newBed(t, func(r *Rules) {
		r.INT = inthdr.Config{Version2: true, Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}}}
		r.Watches[0].Match.Device = []uint64{2}
	})
	through := func(node uint32) []byte {
		return withIFA(t, plain(1), func(_ *intgen.IFA, hops []intgen.Hop) { hops[1].NodeID = node })
	}
	unknown := through(2)
	unknown[14+20+4+8+4+3] = 250 // no TTL falls on the way
	for _, x := range []struct {
		frame []byte
		watch uint8
	}{{through(2), 0}, {through(7), watch.None}, {unknown, watch.None}, {through(2), 0}, {unknown, 0}, {through(7), watch.None}} {
		b.send(x.frame, x.frame, x.frame)
		b.send(x.frame)
		if f := b.flows()[0]; f.Watch != x.watch {
			t.Errorf("watch %d, want %d", f.Watch, x.watch)
		}
	}
}

// withIFA1 inserts the marker, an IFA 1.0 header and the eight bytes of a hop behind the TCP or UDP header of an IPv4 packet.
func withIFA1(t *testing.T, orig []byte) []byte {
	t.Helper()
	var l packet.Layers
	if packet.Parse(orig, len(orig), &l) != packet.OK || l.Payload == 0 || l.IPVersion != 4 {
		t.Fatal("no packet to insert IFA 1.0 into")
	}
	b := slices.Insert(bytes.Clone(orig), int(l.Payload),
		0xaa, 0xaa, 0xaa, 0xaa, 0xbb, 0xbb, 0xbb, 0xbb, 1, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 255, 1, 0, 0, 0x10, 0, 0, 8, 0, 7, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8)
	binary.BigEndian.PutUint16(b[l.L3+2:], uint16(len(b))-l.L3)
	return b
}

// TestIFA1: a copy with IFA 1.0 is reported with its bytes, and dropped; what bears the marker alone, and packets beside, leave as
// they would without. Where no marker is configured, such a packet is any other.
func TestIFA1(t *testing.T) {
	for _, marker := range []uint64{ifa.MarkerOfH3C, 0} {
		b := newBed(t, func(r *Rules) {
			r.INT = inthdr.Config{Version2: true, Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, StripCopies: true, MaxResidence: 1e9, Marker: marker}}}
		})
		copied, live, other := withIFA1(t, plain(1)), withIFA(t, plain(2), nil), withIFA1(t, plain(3))
		other[14+20+8+8] = 3  // another version
		got := b.send(copied) // of malformed packets one a second is reported
		b.host.TX = b.host.TX[:0]
		for range 10 {
			b.send(copied, live, plain(1), other)
		}
		want := [][]byte{plain(2), plain(1), other}
		if marker == 0 {
			want = append([][]byte{copied}, want...)
		}
		if len(b.host.TX) != 10*len(want) {
			t.Fatalf("marker %x: %d packets left", marker, len(b.host.TX))
		}
		for i, f := range b.host.TX {
			if !bytes.Equal(f, want[i%len(want)]) {
				t.Fatalf("marker %x, packet %d: %x", marker, i, f)
			}
		}
		l, reported := b.Snapshot().Links[0], false
		for _, p := range got {
			for _, r := range p.Reports {
				reported = reported || bytes.Contains(r.Raw.Inner, []byte{0xbb, 1, 1})
			}
		}
		if n := uint64(10); marker != 0 && (l.Direction[burst.ToHost].Dropped[burst.DropCopy] != n+1 || l.Malformed[inthdr.ReasonIFA1] != n+1 || l.Malformed[inthdr.ReasonVersion] != n || !reported) {
			t.Errorf("reported %v; %+v", reported, l)
		}
	}
}

// TestIFALinks: from when a node has sent a packet on to when the next one receives it is the latency of the link, which an event
// tells of where a watch has it: of packets that C would pass, too.
func TestIFALinks(t *testing.T) {
	at := func(second uint64, residence uint32) []byte {
		return withIFA(t, plain(1), func(_ *intgen.IFA, hops []intgen.Hop) {
			hops[2].IngressTimestamp, hops[1].IngressTimestamp, hops[0].IngressTimestamp = 5e9, 5e9+second, 5e9+second+56_000
			hops[2].LatencyNs = residence
		})
	}
	for _, c := range []struct {
		name  string
		frame []byte
		fires bool
	}{{"slower", at(40_000, 1000), true}, {"as before", at(4_100, 1000), false}, {"a residence time that cannot be", at(40_000, 1_000_000_730), false}} {
		b := newBed(t, func(r *Rules) {
			r.INT = inthdr.Config{Version2: true, Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}}}
			p := &r.Watches[0].Policy
			p.Events |= event.LinkLatency.Set()
			p.Thresholds.LinkLatency = event.Deadband{Absolute: 10_000, Relative: 0.5, K: 1, N: 1, Interval: 1e6}
		})
		for range 20 {
			b.send(at(4_000, 1000), at(4_000, 1000))
		}
		b.send(c.frame, c.frame)
		if n := b.detector.Counters.Fired[event.LinkLatency]; n > 0 != c.fires || b.detector.Counters.ClockSkew != 0 {
			t.Errorf("%s: %d events of a link, %d skews", c.name, n, b.detector.Counters.ClockSkew)
		}
	}
}
