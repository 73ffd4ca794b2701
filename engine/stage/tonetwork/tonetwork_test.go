package tonetwork_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/burst/bursttest"
	"intsink/engine/event"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// markedBy makes DSCP mark INT, and nothing else.
func markedBy(value, mask uint8) inthdr.Config {
	return inthdr.Config{DSCP: []inthdr.DSCP{{Value: value, Mask: mask}}, Version2: true}
}

// fromHosts is a burst of frames from the host behind the stage, and what it counted.
func fromHosts(t *testing.T, c inthdr.Config, r tonetwork.Rules, sent ...[]byte) (*bursttest.Bed, *tonetwork.Counters) {
	t.Helper()
	b, counters := bursttest.New(t, c), new(tonetwork.Counters)
	s := tonetwork.New([]*tonetwork.Counters{counters})
	s.Adopt([]tonetwork.Rules{r})
	b.Come(burst.ToNetwork, sent...)
	s.Do(b.Burst)
	s.Change(b.Burst)
	return b, counters
}

// withDSCP are kinds of packets with a DSCP: of the packet inside where it has a tunnel, which then has it, too.
var withDSCP = map[string]func(t *testing.T, dscp uint8) []byte{
	"UDP":            func(_ *testing.T, dscp uint8) []byte { return bursttest.FlowWith(dscp, nil).Frame(40, 1) },
	"TCP, IPv6, tag": func(_ *testing.T, dscp uint8) []byte { return bursttest.FlowWith(dscp, bursttest.SixTCP).Frame(40, 1) },
	"IP options":     func(_ *testing.T, dscp uint8) []byte { return bursttest.FlowWith(dscp, options).Frame(0, 1) },
	"neither TCP nor UDP": func(_ *testing.T, dscp uint8) []byte {
		return bursttest.FlowWith(dscp, func(f *intgen.Flow) { f.Proto = 132 }).Frame(40, 1)
	},
	"MPLS": func(_ *testing.T, dscp uint8) []byte {
		return bursttest.FlowWith(dscp, func(f *intgen.Flow) { f.MPLS = []uint32{16} }).Frame(40, 1)
	},
	"a later fragment": func(_ *testing.T, dscp uint8) []byte {
		f := bursttest.FlowWith(dscp, nil).Frame(40, 1)
		binary.BigEndian.PutUint16(f[20:], 100)
		binary.BigEndian.PutUint16(f[24:], binary.BigEndian.Uint16(f[24:])-100)
		return f
	},
	"cut short": func(_ *testing.T, dscp uint8) []byte {
		f := bursttest.FlowWith(dscp, nil).Frame(40, 1)
		return f[:len(f)-7]
	},
	"cut short, IPv6": func(_ *testing.T, dscp uint8) []byte {
		f := bursttest.FlowWith(dscp, bursttest.SixTCP).Frame(40, 1)
		return f[:len(f)-7]
	},
	"both layers of VXLAN":               wrapped(intgen.VXLAN, true, nil, nil),
	"both layers of VXLAN, IPv6 inside":  wrapped(intgen.VXLAN, true, bursttest.SixTCP, nil),
	"both layers of VXLAN over IPv6":     wrapped(intgen.VXLAN, true, bursttest.SixTCP, bursttest.OverIPv6),
	"both layers of GRE with a checksum": wrapped(intgen.OverGRE, false, bursttest.SixTCP, nil),
	"both layers of IP in IP over IPv6":  wrapped(intgen.IPIP, false, bursttest.SixTCP, bursttest.OverIPv6),
	innerAlone:                           wrapped(intgen.VXLAN, true, bursttest.SixTCP, func(t *intgen.Tunnel) { t.DSCP = 10 }),
}

const innerAlone = "the inner layer alone, IPv6 in IPv4" // its outer layer bears the mark 0/4

func options(f *intgen.Flow) { f.IPOptions = []byte{7, 7, 4, 0, 0, 0, 0, 0} }

// wrapped is a packet in a tunnel, both with the DSCP; but for a tunnel that change gives another one.
func wrapped(encap intgen.Encap, ethernet bool, inner func(*intgen.Flow), change func(*intgen.Tunnel)) func(*testing.T, uint8) []byte {
	return func(t *testing.T, dscp uint8) []byte {
		w := bursttest.Tunnel(encap, ethernet, change)
		w.SrcPort = 49152
		if w.Checksum = encap != intgen.IPIP; w.DSCP == 0 {
			w.DSCP = dscp
		}
		return bursttest.Wrap(t, w, bursttest.FlowWith(dscp, inner).Frame(40, 1))
	}
}

// TestHostsCannotMarkAsINT: a packet without INT that has the DSCP of INT leaves without it, in each layer that
// INT is looked for in, with all checksums as if its host had sent it so (INT 2.1, section 5.7.2).
func TestHostsCannotMarkAsINT(t *testing.T) {
	for name, frame := range withDSCP {
		t.Run(name, func(t *testing.T) {
			for _, x := range []struct{ value, mask, dscp, want uint8 }{
				{23, 63, 23, 0}, {4, 4, 0x2e, 0x2a}, {32, 32, 34, 2}, {0, 4, 0x2a, 0x2e}, {23, 63, 24, 24}, {4, 4, 0x2a, 0x2a},
			} {
				if name == innerAlone && x.value == 0 {
					continue
				}
				marked, want := frame(t, x.dscp), frame(t, x.want)
				b, c := fromHosts(t, markedBy(x.value, x.mask), tonetwork.Rules{}, marked, marked)
				b.Expect(want, want)
				n := uint64(0)
				if !bytes.Equal(marked, want) {
					n = 2
				}
				if *c != (tonetwork.Counters{Marked: [tonetwork.NumMarkActions]uint64{tonetwork.MarkCleared: n}}) {
					t.Errorf("mark %d/%d: %+v", x.value, x.mask, c)
				}
			}
		})
	}
}

// TestSeveralMarks: each stands for the DSCP of its class.
func TestSeveralMarks(t *testing.T) {
	zero, ef := uint8(0), uint8(46)
	several := inthdr.Config{DSCP: []inthdr.DSCP{{Value: 23, Mask: 63, Restore: &zero}, {Value: 29, Mask: 63, Restore: &ef}}, Version2: true}
	of := func(dscp uint8) []byte { return bursttest.FlowWith(dscp, nil).Frame(40, 1) }
	b, c := fromHosts(t, several, tonetwork.Rules{}, of(29), of(46), of(23))
	b.Expect(of(46), of(46), of(0))
	if c.Marked[tonetwork.MarkCleared] != 2 {
		t.Errorf("%+v", c)
	}
}

// TestECNStaysBesideTheMark: a mark is six bits.
func TestECNStaysBesideTheMark(t *testing.T) {
	f, want := bursttest.FlowWith(23, nil).Frame(40, 1), bursttest.FlowWith(0, nil).Frame(40, 1)
	bursttest.SetECN(f, 14, 3)
	bursttest.SetECN(want, 14, 3)
	b, _ := fromHosts(t, markedBy(23, 63), tonetwork.Rules{}, f)
	b.Expect(want)
}

// TestMarksOfHosts: what becomes of marked packets without INT.
func TestMarksOfHosts(t *testing.T) {
	toPort := bursttest.FlowWith(0, func(f *intgen.Flow) { f.DstPort = 5000 }).Frame(40, 1)
	probe := bursttest.FlowWith(0, nil).Frame(40, 1)
	copy(probe[42:], "\x01\x02\x03\x04\x05\x06\x07\x08")
	marker := uint64(0x0102030405060708)
	byProbe := inthdr.Config{ProbeMarker: &marker, Version2: true}
	dscp := bursttest.FlowWith(23, nil).Frame(40, 1)
	for _, x := range []struct {
		name   string
		int    inthdr.Config
		policy tonetwork.MarkPolicy
		frame  []byte
		action tonetwork.MarkAction
	}{
		{"a port stays", bursttest.ByPort(), tonetwork.ClearMarks, toPort, tonetwork.MarkForwarded},
		{"a port, drop", bursttest.ByPort(), tonetwork.DropMarks, toPort, tonetwork.MarkDropped},
		{"a probe marker stays", byProbe, tonetwork.ClearMarks, probe, tonetwork.MarkForwarded},
		{"a probe marker, drop", byProbe, tonetwork.DropMarks, probe, tonetwork.MarkDropped},
		{"a DSCP, drop", markedBy(23, 63), tonetwork.DropMarks, dscp, tonetwork.MarkDropped},
		{"a DSCP, forward", markedBy(23, 63), tonetwork.ForwardMarks, dscp, tonetwork.MarkForwarded},
	} {
		t.Run(x.name, func(t *testing.T) {
			b, c := fromHosts(t, x.int, tonetwork.Rules{Mark: x.policy}, x.frame, bursttest.Plain(100))
			want, drops := [][]byte{x.frame, bursttest.Plain(100)}, uint64(0)
			if x.action == tonetwork.MarkDropped {
				want, drops = want[1:], 1
			}
			b.Expect(want...)
			b.ExpectDropped(burst.DropMark, drops)
			if c.Leaked != 0 || c.Marked[x.action] != 1 || c.Marked[0]+c.Marked[1]+c.Marked[2] != 1 || len(b.AllLeft()) != int(drops) {
				t.Errorf("%+v, left to report %+v", c, b.AllLeft())
			}
		})
	}
}

// TestLeakPolicies: INT of hosts passes, is taken off or dropped; all is left to report, as it came.
func TestLeakPolicies(t *testing.T) {
	vxlan := bursttest.Tunnel(intgen.VXLAN, true, nil)
	of := func(n int) []byte { return bursttest.WithINT(t, bursttest.Plain(n), bursttest.ByDSCP) }
	leaks := [][]byte{of(1), bursttest.Wrap(t, vxlan, of(2))}
	originals := [][]byte{bursttest.Plain(1), bursttest.Wrap(t, vxlan, bursttest.Plain(2))}
	for policy, want := range map[tonetwork.LeakPolicy][][]byte{tonetwork.ForwardLeaks: leaks, tonetwork.StripLeaks: originals, tonetwork.DropLeaks: {}} {
		b, c := fromHosts(t, markedBy(23, 63), tonetwork.Rules{Leak: policy}, leaks...)
		b.Expect(want...)
		b.ExpectDropped(burst.DropLeak, uint64(2-len(want)))
		if *c != (tonetwork.Counters{Leaked: 2}) {
			t.Errorf("policy %d: %+v", policy, c)
		}
		for i, l := range b.AllLeft() {
			if l.Event != event.Leak || int(l.I) != i || l.Dropped != (policy == tonetwork.DropLeaks) {
				t.Errorf("policy %d: left to report %+v", policy, l)
			}
		}
	}
}

// TestStripOfLeaks takes INT out of both layers, and discards what INT wants discarded.
func TestStripOfLeaks(t *testing.T) {
	strip := tonetwork.Rules{Leak: tonetwork.StripLeaks}
	for _, n := range bursttest.Nestings() {
		original, marked := n.Frames(t, nil)
		b, _ := fromHosts(t, bursttest.InTunnels(), strip, marked)
		b.Expect(original)
	}
	outer := bursttest.WithINT(t, bursttest.Plain(1), bursttest.Discarded)
	_, inner := bursttest.Nestings()[0].Frames(t, bursttest.Discarded)
	for name, x := range map[string]struct {
		frame []byte
		told  int // the drop of what is known at once is told with the leak
	}{"outer": {outer, 1}, "inner": {inner, 2}} {
		b, _ := fromHosts(t, bursttest.InTunnels(), strip, x.frame)
		b.Expect()
		b.ExpectDropped(burst.DropDiscard, 1)
		if l := b.AllLeft(); len(l) != x.told || l[0].Event != event.Leak || !l[x.told-1].Dropped || l[x.told-1].Why != burst.DropDiscard {
			t.Errorf("%s: left to report %+v", name, l)
		}
	}
}

// TestStrippedLeakBearsNoMark: a shim that carries the mark as the original DSCP does not bring it back.
func TestStrippedLeakBearsNoMark(t *testing.T) {
	f := bursttest.WithINT(t, bursttest.FlowWith(23, nil).Frame(40, 1), bursttest.ByDSCP)
	b, c := fromHosts(t, markedBy(23, 63), tonetwork.Rules{Leak: tonetwork.StripLeaks}, f)
	b.Expect(bursttest.FlowWith(0, nil).Frame(40, 1))
	if *c != (tonetwork.Counters{Leaked: 1, Marked: [tonetwork.NumMarkActions]uint64{tonetwork.MarkCleared: 1}}) {
		t.Errorf("%+v", c)
	}
}
