package engine

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"intsink/engine/aside/capture"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// markedBy makes DSCP mark INT, and nothing else.
func markedBy(value, mask uint8) func(*Rules) {
	return func(r *Rules) {
		r.INT = inthdr.Config{DSCP: []inthdr.DSCP{{Value: value, Mask: mask}}, Version2: true}
		r.DropInterval = 1e9
	}
}

// fromHosts is what leaves by the network port of frames from the host, and the counters.
func fromHosts(t *testing.T, change func(*Rules), sent ...[]byte) (b *bed, left [][]byte, c LinkCounters) {
	b = newBed(t, change)
	for _, f := range sent {
		b.host.RX = append(b.host.RX, bytes.Clone(f))
	}
	b.Poll()
	left = b.network.TX
	b.step(2e6)
	c = b.Snapshot().Links[0]
	return b, left, c
}

// withDSCP are kinds of packets with a DSCP: of the packet inside where it has a tunnel, which then has it, too.
var withDSCP = map[string]func(t *testing.T, dscp uint8) []byte{
	"UDP":            func(_ *testing.T, dscp uint8) []byte { return flowWith(dscp, nil).Frame(40, 1) },
	"TCP, IPv6, tag": func(_ *testing.T, dscp uint8) []byte { return flowWith(dscp, sixTCP).Frame(40, 1) },
	"IP options":     func(_ *testing.T, dscp uint8) []byte { return flowWith(dscp, options).Frame(0, 1) },
	"neither TCP nor UDP": func(_ *testing.T, dscp uint8) []byte {
		return flowWith(dscp, func(f *intgen.Flow) { f.Proto = 132 }).Frame(40, 1)
	},
	"MPLS": func(_ *testing.T, dscp uint8) []byte {
		return flowWith(dscp, func(f *intgen.Flow) { f.MPLS = []uint32{16} }).Frame(40, 1)
	},
	"a later fragment": func(_ *testing.T, dscp uint8) []byte {
		f := flowWith(dscp, nil).Frame(40, 1)
		binary.BigEndian.PutUint16(f[20:], 100)
		binary.BigEndian.PutUint16(f[24:], binary.BigEndian.Uint16(f[24:])-100)
		return f
	},
	"cut short":                          func(_ *testing.T, dscp uint8) []byte { f := flowWith(dscp, nil).Frame(40, 1); return f[:len(f)-7] },
	"cut short, IPv6":                    func(_ *testing.T, dscp uint8) []byte { f := flowWith(dscp, sixTCP).Frame(40, 1); return f[:len(f)-7] },
	"both layers of VXLAN":               wrapped(intgen.VXLAN, true, nil, nil),
	"both layers of VXLAN, IPv6 inside":  wrapped(intgen.VXLAN, true, sixTCP, nil),
	"both layers of VXLAN over IPv6":     wrapped(intgen.VXLAN, true, sixTCP, overIPv6),
	"both layers of GRE with a checksum": wrapped(intgen.OverGRE, false, sixTCP, nil),
	"both layers of IP in IP over IPv6":  wrapped(intgen.IPIP, false, sixTCP, overIPv6),
	innerAlone:                           wrapped(intgen.VXLAN, true, sixTCP, func(t *intgen.Tunnel) { t.DSCP = 10 }),
}

const innerAlone = "the inner layer alone, IPv6 in IPv4" // its outer layer bears the mark 0/4

func sixTCP(f *intgen.Flow) {
	f.Src, f.Dst, f.Proto, f.VLAN = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2"), intgen.TCP, 7
}

func options(f *intgen.Flow) { f.IPOptions = []byte{7, 7, 4, 0, 0, 0, 0, 0} }

func flowWith(dscp uint8, change func(*intgen.Flow)) *intgen.Flow {
	f := &intgen.Flow{
		Src: netip.MustParseAddr("10.1.0.1"), Dst: netip.MustParseAddr("10.0.0.9"), Proto: intgen.UDP, SrcPort: 8000, DstPort: 1024, DSCP: dscp,
	}
	if change != nil {
		change(f)
	}
	return f
}

// wrapped is a packet in a tunnel, both with the DSCP; but for a tunnel that change gives another one.
func wrapped(encap intgen.Encap, ethernet bool, inner func(*intgen.Flow), change func(*intgen.Tunnel)) func(*testing.T, uint8) []byte {
	return func(t *testing.T, dscp uint8) []byte {
		w := tunnel(encap, ethernet, change)
		w.SrcPort = 49152
		if w.Checksum = encap != intgen.IPIP; w.DSCP == 0 {
			w.DSCP = dscp
		}
		f, err := w.Wrap(flowWith(dscp, inner).Frame(40, 1))
		if err != nil {
			t.Fatal(err)
		}
		return f
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
				b, left, c := fromHosts(t, markedBy(x.value, x.mask), marked, marked)
				if len(left) != 2 || !bytes.Equal(left[0], want) || !bytes.Equal(left[1], want) {
					t.Errorf("mark %d/%d: sent\n%x\nleft\n%x\nwant\n%x", x.value, x.mask, marked, left, want)
				}
				n := uint64(0)
				if !bytes.Equal(marked, want) {
					n = 2
				}
				if c.ToNetwork.Marked != [tonetwork.NumMarkActions]uint64{tonetwork.MarkCleared: n} || c.ToNetwork.Leaked != 0 {
					t.Errorf("mark %d/%d: marked %v, leaked %d", x.value, x.mask, c.ToNetwork.Marked, c.ToNetwork.Leaked)
				}
				b.balance()
			}
		})
	}
}

// TestECNStaysBesideTheMark: a mark is six bits.
func TestECNStaysBesideTheMark(t *testing.T) {
	f := flowWith(23, nil).Frame(40, 1)
	f[15] |= 3
	f[24]-- // the sum of the header is three less
	binary.BigEndian.PutUint16(f[24:], binary.BigEndian.Uint16(f[24:])+0x100-3)
	_, left, _ := fromHosts(t, markedBy(23, 63), f)
	if len(left) != 1 || left[0][15] != 3 {
		t.Errorf("left %x", left)
	}
}

// TestMarksOfHosts: what becomes of marked packets without INT.
func TestMarksOfHosts(t *testing.T) {
	byPort := func(r *Rules) { r.DropInterval = 1e9 }
	toPort := flowWith(0, func(f *intgen.Flow) { f.DstPort = 5000 }).Frame(40, 1)
	probe := flowWith(0, nil).Frame(40, 1)
	copy(probe[42:], "\x01\x02\x03\x04\x05\x06\x07\x08")
	byProbe := func(r *Rules) {
		marker := uint64(0x0102030405060708)
		r.INT, r.DropInterval = inthdr.Config{ProbeMarker: &marker, Version2: true}, 1e9
	}
	dscp := flowWith(23, nil).Frame(40, 1)
	for _, x := range []struct {
		name   string
		rules  func(*Rules)
		policy tonetwork.MarkPolicy
		frame  []byte
		action tonetwork.MarkAction
	}{
		{"a port stays", byPort, tonetwork.ClearMarks, toPort, tonetwork.MarkForwarded},
		{"a port, drop", byPort, tonetwork.DropMarks, toPort, tonetwork.MarkDropped},
		{"a probe marker stays", byProbe, tonetwork.ClearMarks, probe, tonetwork.MarkForwarded},
		{"a probe marker, drop", byProbe, tonetwork.DropMarks, probe, tonetwork.MarkDropped},
		{"a DSCP, drop", markedBy(23, 63), tonetwork.DropMarks, dscp, tonetwork.MarkDropped},
		{"a DSCP, forward", markedBy(23, 63), tonetwork.ForwardMarks, dscp, tonetwork.MarkForwarded},
	} {
		t.Run(x.name, func(t *testing.T) {
			b, left, c := fromHosts(t, func(r *Rules) { x.rules(r); r.LeakMark = x.policy }, x.frame, plain(100))
			want := [][]byte{x.frame, plain(100)}
			if x.action == tonetwork.MarkDropped {
				want = want[1:]
			}
			if !slices.EqualFunc(left, want, bytes.Equal) {
				t.Errorf("left %x", left)
			}
			marked := [tonetwork.NumMarkActions]uint64{}
			marked[x.action] = 1
			if c.ToNetwork.Marked != marked || c.ToNetwork.Leaked != 0 || c.Direction[burst.ToNetwork].Dropped[burst.DropMark] != marked[tonetwork.MarkDropped] {
				t.Errorf("marked %v, leaked %d, dropped %v", c.ToNetwork.Marked, c.ToNetwork.Leaked, c.Direction[burst.ToNetwork].Dropped)
			}
			b.balance()
		})
	}
}

// leaking are the original packets and what hosts send of them, with INT.
func leaking(t *testing.T) (originals, leaks [][]byte) {
	in := func(frame []byte) []byte {
		return withINT(t, frame, func(s *intgen.Source, _ []intgen.Hop) { s.Marking, s.DSCP, s.Mask = intgen.ByDSCP, 23, 63 })
	}
	inTunnel, err1 := tunnel(intgen.VXLAN, true, nil).Wrap(in(plain(2)))
	original, err2 := tunnel(intgen.VXLAN, true, nil).Wrap(plain(2))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return [][]byte{plain(1), original}, [][]byte{in(plain(1)), inTunnel}
}

// TestLeakPolicies: INT of hosts passes, is taken off or dropped.
func TestLeakPolicies(t *testing.T) {
	originals, leaks := leaking(t)
	for policy, want := range map[tonetwork.LeakPolicy][][]byte{tonetwork.ForwardLeaks: leaks, tonetwork.StripLeaks: originals, tonetwork.DropLeaks: {}} {
		b, left, c := fromHosts(t, func(r *Rules) { markedBy(23, 63)(r); r.Leak = policy }, leaks...)
		if !slices.EqualFunc(left, want, bytes.Equal) {
			t.Errorf("policy %d: left\n%x\nwant\n%x", policy, left, want)
		}
		if c.ToNetwork.Leaked != 2 || c.ToNetwork.Marked != [tonetwork.NumMarkActions]uint64{} || c.Direction[burst.ToNetwork].Dropped[burst.DropLeak] != uint64(2-len(want)) {
			t.Errorf("policy %d: leaked %d, marked %v, dropped %v", policy, c.ToNetwork.Leaked, c.ToNetwork.Marked, c.Direction[burst.ToNetwork].Dropped)
		}
		b.balance()
	}
}

// TestStripOfLeaks takes INT out of both layers, and discards what INT wants discarded.
func TestStripOfLeaks(t *testing.T) {
	for _, n := range nestings() {
		original, marked := n.frames(t, nil)
		b := nestedBed(t, func(r *Rules) { r.Leak = tonetwork.StripLeaks })
		b.host.RX = [][]byte{bytes.Clone(marked)}
		b.Poll()
		if len(b.network.TX) != 1 || !bytes.Equal(b.network.TX[0], original) {
			t.Errorf("%s: left\n%x\nwant\n%x", n.name, b.network.TX, original)
		}
		b.balance()
	}
	discard := withINT(t, plain(1), func(s *intgen.Source, _ []intgen.Hop) { s.Discard = true })
	b, left, c := fromHosts(t, func(r *Rules) { r.Leak = tonetwork.StripLeaks }, discard)
	if len(left) != 0 || c.Direction[burst.ToNetwork].Dropped[burst.DropDiscard] != 1 {
		t.Errorf("left %x, dropped %v", left, c.Direction[burst.ToNetwork].Dropped)
	}
	b.balance()
}

// TestStrippedLeakBearsNoMark: a shim that carries the mark as the original DSCP does not bring it back.
func TestStrippedLeakBearsNoMark(t *testing.T) {
	f := withINT(t, flowWith(23, nil).Frame(40, 1), func(s *intgen.Source, _ []intgen.Hop) { s.Marking, s.DSCP, s.Mask = intgen.ByDSCP, 23, 63 })
	_, left, c := fromHosts(t, func(r *Rules) { markedBy(23, 63)(r); r.Leak = tonetwork.StripLeaks }, f)
	if len(left) != 1 || !bytes.Equal(left[0], flowWith(0, nil).Frame(40, 1)) || c.ToNetwork.Leaked != 1 || c.ToNetwork.Marked[tonetwork.MarkCleared] != 1 {
		t.Errorf("left %x, leaked %d, marked %v", left, c.ToNetwork.Leaked, c.ToNetwork.Marked)
	}
}

// TestDroppedLeakIsOneReport: of the events leak and drop.
func TestDroppedLeakIsOneReport(t *testing.T) {
	b := explained(t, func(r *Rules) { r.Leak = tonetwork.DropLeaks })
	b.expect(nil, frames(withINT(t, plain(1), nil), plain(2)), "drop+leak D F drops 1 acl_deny")
	b.balance()
}

// TestCaptureOfChangedLeaks: packets from hosts are captured as they came and as they leave.
func TestCaptureOfChangedLeaks(t *testing.T) {
	_, leaks := leaking(t)
	marked := flowWith(23, nil).Frame(40, 1)
	b := newBed(t, func(r *Rules) { markedBy(23, 63)(r); r.Leak = tonetwork.DropLeaks })
	c := b.capturing(0, func(f *capture.Filter) { f.Events = 0 })
	b.host.RX = frames(bytes.Clone(leaks[0]), bytes.Clone(marked))
	b.Poll()
	texts, packets := b.taken(c)
	if !slices.Equal(texts, []string{"host in " + event.Leak.String() + " drop=leak", "host in", "net out"}) {
		t.Errorf("captured %q", texts)
	}
	if len(packets) != 3 || !bytes.Equal(packets[0], leaks[0]) || !bytes.Equal(packets[1], marked) || !bytes.Equal(packets[2], flowWith(0, nil).Frame(40, 1)) {
		t.Errorf("captured %x", packets)
	}
	b.balance()
}
