package engine

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/exporters/record/recordtest"
)

// longStacks are packets of 900 bytes with INT that 128 bytes do not hold, and how many hops it has.
func longStacks(t *testing.T) map[string][]byte {
	all := map[string][]byte{}
	for name, change := range map[string]func(*intgen.Flow){
		"IPv4": nil, "IPv6": func(f *intgen.Flow) { sixTCP(f); f.Proto = intgen.UDP }, "TCP": func(f *intgen.Flow) { f.Proto = intgen.TCP },
	} {
		for marking, s := range map[string]intgen.Source{
			"port": {UDPPort: 5000}, "new UDP": {UDPPort: 5000, Marking: intgen.ByNewUDP}, "DSCP": {Marking: intgen.ByDSCP, DSCP: 23, Mask: 63},
			"GRE": {Marking: intgen.ByGRE, GREInserted: true, OuterSrc: netip.MustParseAddr("172.16.0.9"), OuterDst: netip.MustParseAddr("172.17.0.9")},
		} {
			s.Bitmap, s.MaxHops = 0xfd00, 16
			hops := make([]intgen.Hop, 7)
			for i := range hops {
				hops[i] = intgen.Hop{NodeID: uint32(107 - i), Ingress: 1, Egress: 2, LatencyNs: 10_000}
			}
			f, err := s.Insert(flowWith(0, change).Frame(600, 1), hops)
			if err != nil {
				t.Fatal(name, marking, err)
			}
			all[name+" by "+marking] = f
		}
	}
	return all
}

func wholeINT(t *testing.T, change func(*Rules)) *bed {
	port, gre := uint16(5000), uint16(0x88b6)
	return newBed(t, func(r *Rules) {
		r.INT = inthdr.Config{UDPPort: &port, GREProtocol: &gre, DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}, Version2: true}
		r.Report.WholeINT = true
		r.Watches[0].Policy.Sample = 1
		r.Watches[0].Policy.Events = event.NewFlow.Set() | event.Sample.Set()
		if change != nil {
			change(r)
		}
	})
}

// reportsOf is all reports that left.
func (b *bed) reportsOf() (all []recordtest.Report) {
	for _, p := range b.sealed() {
		all = append(all, recordtest.Decode(b.t, p).Reports...)
	}
	return all
}

// TestReportsShowAllINT: with fragment = "int" the report of a packet has all hops and the ports of its flow, whether
// it is built by a template or in all parts, and not the payload.
func TestReportsShowAllINT(t *testing.T) {
	for name, f := range longStacks(t) {
		t.Run(name, func(t *testing.T) {
			b := wholeINT(t, nil)
			for range 3 { // parsed, by a template, several together
				b.network.RX = frames(bytes.Clone(f), bytes.Clone(f))
				b.Poll()
			}
			b.step(2e6)
			all := b.reportsOf()
			if len(all) != 6 {
				t.Fatalf("%d reports", len(all))
			}
			for _, r := range all {
				if strings.HasSuffix(name, "DSCP") { // the decoder does not know the mark
					if n := len(r.Raw.Inner); n < 7*36+16+20+8 {
						t.Errorf("%d bytes", n)
					}
				} else if len(r.Hops) != 7 || r.SourcePort != 8000 {
					t.Errorf("%d hops, source port %d", len(r.Hops), r.SourcePort)
				}
				if n := len(r.Raw.Inner); n > 7*36+16+160 {
					t.Errorf("%d bytes", n)
				}
			}
			if c := b.Snapshot().Collectors[0]; c.Cut != 0 {
				t.Errorf("%d reports are cut", c.Cut)
			}
			b.balance()
		})
	}
}

// TestReportsThatAreCutInsideINT are counted, by a template or not: by the length of a fragment, or for want of room.
func TestReportsThatAreCutInsideINT(t *testing.T) {
	f := longStacks(t)["IPv4 by port"]
	short := withINT(t, plain(2), nil)
	for name, change := range map[string]func(*Rules){
		"by fragment": func(r *Rules) { r.Report.WholeINT = false },
		"by room":     func(r *Rules) { r.setPayloads(200) },
		"IPv6 length": func(r *Rules) { r.Report.WholeINT, r.Report.Fragment6 = false, 8000 },
	} {
		for _, whole := range []bool{false, true} {
			b := wholeINT(t, change)
			if whole {
				b.reporter.WithoutTemplates()
			}
			for range 3 {
				b.network.RX = frames(bytes.Clone(f), bytes.Clone(short), bytes.Clone(f))
				b.Poll()
			}
			b.Tick(b.now + 2e6)
			if c := b.Snapshot().Collectors[0]; c.Cut != 6 || c.Reports != 9 {
				t.Errorf("%s, without templates %v: %d of %d reports are cut, want 6 of 9", name, whole, c.Cut, c.Reports)
			}
			b.balance()
		}
	}
}

// TestFragmentOfIPv6 has a length of its own.
func TestFragmentOfIPv6(t *testing.T) {
	b := wholeINT(t, func(r *Rules) { r.Report.WholeINT, r.Report.Fragment6 = false, 400 })
	b.network.RX = frames(longStacks(t)["IPv6 by port"], longStacks(t)["IPv4 by port"])
	b.Poll()
	b.step(2e6)
	all := b.reportsOf()
	if len(all) != 2 || len(all[0].Raw.Inner) != 400 || len(all[1].Raw.Inner) != 128 {
		t.Errorf("%+v", all)
	}
	b.balance()
}

// TestLeaksShowAllINT as reports of flows do.
func TestLeaksShowAllINT(t *testing.T) {
	b := wholeINT(t, func(r *Rules) { r.Watches[0].Policy.Events = event.Leak.Set() })
	b.host.RX = frames(longStacks(t)["IPv4 by port"])
	b.Poll()
	b.step(2e6)
	all := b.reportsOf()
	if len(all) != 1 || len(all[0].Hops) != 7 || all[0].InType != report.Ethernet {
		t.Errorf("%+v", all)
	}
	b.balance()
}
