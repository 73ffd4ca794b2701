package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
	"intsink/internal/rounds"
)

// collectorsBed is a bed with a ring for each of its collectors.
type collectorsBed struct {
	*bed
	rings []*ring.Ring
	taken []*mbuf.Mbuf // by starve
}

// newCollectorsBed has watches that report to all collectors, to some, and to none.
func newCollectorsBed(t *testing.T, collectors, ringSize int, change func(*Rules)) *collectorsBed {
	b := &collectorsBed{}
	all := uint64(1)<<collectors - 1
	b.bed = newBed(t, func(r *Rules) {
		r.Collectors = nil
		for c := range collectors {
			b.rings = append(b.rings, ring.New(ringSize))
			r.Collectors = append(r.Collectors, reporting.Collector{Address: netip.MustParseAddrPort(fmt.Sprintf("192.0.2.%d:8555", c+1)), MaxPayload: 1358 - 300*c})
		}
		p := r.Watches[0].Policy
		p.Sample, p.Events = 1, p.Events|event.Congestion.Set()
		p.Thresholds.CongestionRaise, p.Thresholds.CongestionClear, p.Thresholds.CongestionQuota, p.Thresholds.CongestionTimeout = 100, 50, 10, 1e9
		r.Watches = nil
		for w := range 4 {
			port := uint16(8000 + w)
			r.Watches = append(r.Watches, watch.Watch{Name: fmt.Sprint(w), Match: watch.Match{DestinationPort: []watch.PortRange{{First: port, Last: port}}}, Policy: p, Collectors: all >> w & all})
		}
		r.Watches = append(r.Watches, watch.Watch{Name: "rest", Policy: p, Collectors: all})
		change(r)
	})
	b.remake(func(c *WorkerConfig) {
		c.Outlets, c.ReportPool = outlets(b.rings), b.reports
		c.Clock = func() int64 { b.now += 10; return b.now }
	})
	return b
}

// handedOver returns the report packets that left, by collector, with the data that the exporter
// gets beside each.
func (b *collectorsBed) handedOver() (out [][][]byte) {
	v := new(mbuf.Vec) // which no C sees
	for _, r := range b.rings {
		var of [][]byte
		for n := r.Pop(v, mbuf.MaxBurst); n > 0; n = r.Pop(v, mbuf.MaxBurst) {
			for _, m := range v[:n] {
				of = append(of, bytes.Clone(m.Bytes()))
			}
			b.reports.FreeBulk(v, n)
		}
		out = append(out, of)
	}
	return out
}

// reported is a packet as it may come between others: mostly INT-MD of one of some
// domains.
func reported(t *testing.T, r *rand.Rand) []byte {
	f := intgen.Flow{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Src: address(10, 0, 0, byte(r.IntN(8))), Dst: address(10, 1, 0, 1),
		Proto: intgen.UDP, SrcPort: 1024, DstPort: 7999 + uint16(r.IntN(6)),
	}
	switch r.IntN(12) {
	case 0:
		f.VLAN = 5
	case 1:
		f.Proto = intgen.TCP
	case 2:
		f.Src, f.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	case 3:
		return mx(t, r.IntN(4), 0xffff, 0x5453, 0x8000)
	case 4:
		return plain(r.IntN(9))
	}
	return withINT(t, f.Frame(r.IntN(1200), r.Uint32()), func(s *intgen.Source, hops []intgen.Hop) {
		s.DomainID, s.Discard = []uint16{0, 0, 0, 0x5453, 7, 0xffff}[r.IntN(6)], r.IntN(20) == 0
		if r.IntN(20) == 0 {
			s.DSInstruction = 0x8000 // which nobody knows
		}
		hops[0].QueueOccupancy = uint32(r.IntN(2) * 1000)
		hops[1].NodeID -= uint32(r.IntN(10) / 9)
	})
}

// TestTemplateChangesNothing: whatever packets come in a burst, reports are as without a
// template, to the byte, packet by packet, and so are the counters.
func TestTemplateChangesNothing(t *testing.T) {
	type rules = func(*Rules)
	for name, change := range map[string]rules{
		"as it comes":        func(*Rules) {},
		"no fragment":        func(r *Rules) { r.Report.Fragment = 0 },
		"Ethernet":           func(r *Rules) { r.Report.Ethernet = true },
		"no metadata":        func(r *Rules) { r.Report.MdBits = 0 },
		"neither":            func(r *Rules) { r.Report.MdBits, r.Report.Fragment = 0, 0 },
		"all metadata":       func(r *Rules) { r.Report.MdBits = 0xffff },
		"a domain":           func(r *Rules) { r.Report.Domain, r.Report.Ethernet = 0x5453, true },
		"a domain alone":     func(r *Rules) { r.Report.Domain, r.Report.MdBits = 0x5453, 0 },
		"1 byte":             func(r *Rules) { r.Report.Fragment = 1 },
		"a byte of Ethernet": func(r *Rules) { r.Report.Fragment, r.Report.Ethernet = 1, true },
		"odd":                func(r *Rules) { r.Report.Fragment = 127 },
		"odd Ethernet":       func(r *Rules) { r.Report.Fragment, r.Report.Ethernet = 125, true },
		"longer than 254 words": func(r *Rules) {
			r.Report.Fragment = 1400
			r.setPayloads(1358, 2000, 1100)
		},
		"one each":    func(r *Rules) { r.Report.MaxReports = 1 },
		"three":       func(r *Rules) { r.Report.MaxReports = 3 },
		"little room": func(r *Rules) { r.setPayloads(100, 44, 26) },
		"no room":     func(r *Rules) { r.setPayloads(12, 1358, 8) },
		"a budget": func(r *Rules) {
			r.setBudgets(reporting.Budget{}, reporting.Budget{Packets: 20, Bits: 1e6, Burst: 100e6})
		},
		"explained":  func(r *Rules) { r.Report.Explain = true },
		"format 1.0": func(r *Rules) { r.Report.Format = report.Format10 },
		"no samples": func(r *Rules) {
			for i := range r.Watches {
				r.Watches[i].Policy.Sample = 0
			}
		},
		"refreshes": func(r *Rules) {
			for i := range r.Watches {
				r.Watches[i].Policy.Sample, r.Watches[i].Policy.Thresholds.RefreshEvery = 0, 1e6
			}
		},
	} {
		for _, ringSize := range []int{4, 64} { // 4: some find no room
			t.Run(fmt.Sprintf("%s, ring of %d", name, ringSize), func(t *testing.T) { sameReports(t, ringSize, change) })
		}
	}
}

// alikes are packets of one flow, as a run of them is: of one length, or of any. Now and
// then there is another one between them.
func alikes(t *testing.T, r *rand.Rand) [][]byte {
	frames := make([][]byte, mbuf.MaxBurst-r.IntN(2)*r.IntN(mbuf.MaxBurst))
	flow := intgen.Flow{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Src: address(10, 0, 0, 1), Dst: address(10, 1, 0, 1),
		Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000,
	}
	size, odd := r.IntN(200), r.IntN(3) == 0
	for i := range frames {
		if odd {
			size = r.IntN(200)
		}
		if frames[i] = withINT(t, flow.Frame(size, r.Uint32()), nil); r.IntN(40) == 0 {
			frames[i] = reported(t, r)
		}
	}
	return frames
}

// TestRunsChangeNothing: the same of packets that are reported together, wherever among
// them a packet is full, the exporter's ring, or there is no mbuf left.
func TestRunsChangeNothing(t *testing.T) {
	var dropped [reporting.NumDropReasons]uint64
	for name, change := range map[string]func(*Rules){
		"as it comes":    func(*Rules) {},
		"Ethernet":       func(r *Rules) { r.Report.Ethernet = true },
		"a domain":       func(r *Rules) { r.Report.Domain = 0x5453 },
		"no fragment":    func(r *Rules) { r.Report.Fragment = 0 },
		"no metadata":    func(r *Rules) { r.Report.MdBits = 0 },
		"odd":            func(r *Rules) { r.Report.Fragment = 101 },
		"short":          func(r *Rules) { r.Report.Fragment = 40 },
		"long":           func(r *Rules) { r.Report.Fragment = 250 },
		"one each":       func(r *Rules) { r.Report.MaxReports = 1 },
		"five":           func(r *Rules) { r.Report.MaxReports = 5 },
		"all of a burst": func(r *Rules) { r.Report.MaxReports, r.Report.Fragment, r.Report.MdBits = 64, 10, 0 },
		"cut":            func(r *Rules) { r.setPayloads(100) },
		"hardly any":     func(r *Rules) { r.Report.Fragment = 12; r.setPayloads(24) },
		"a full packet":  func(r *Rules) { r.setPayloads(report.GroupHeaderLen + 3*(4+8+12+128)) },
		"explained":      func(r *Rules) { r.Report.Explain = true },
		"explained and cut": func(r *Rules) {
			r.Report.Explain = true
			r.setPayloads(160)
		},
		"1.0": func(r *Rules) { r.Report.Format = report.Format10 },
		"0.5": func(r *Rules) { r.Report.Format = report.Format05 },
		"a budget": func(r *Rules) {
			r.setBudgets(reporting.Budget{Packets: 2000, Bits: 10e6, Burst: 10e6, Headers: 42})
		},
	} {
		t.Run(name, func(t *testing.T) {
			by, whole := newCollectorsBed(t, 1, 16, change), newCollectorsBed(t, 1, 16, change)
			sameOf(t, by, whole, func(r *rand.Rand, burst int) [][]byte {
				if burst%10 == 3 {
					by.starve()
					whole.starve()
				}
				if burst%10 == 6 {
					by.feed()
					whole.feed()
				}
				return alikes(t, r)
			})
			for reason, n := range by.counters.Collectors[0].Dropped {
				dropped[reason] += n
			}
		})
	}
	if least := uint64(rounds.Of(1000, 4)); dropped[reporting.DropNoMbuf] < least || dropped[reporting.DropRingFull] < least || dropped[reporting.DropTooBig] < least/10 {
		t.Errorf("dropped %v: want some for each reason", dropped)
	}
}

// starve takes all mbufs for reports, and feed gives them back.
func (b *collectorsBed) starve() {
	for v := mbuf.NewVec(); b.reports.AllocBulk(v, 1); {
		b.taken = append(b.taken, v[0])
	}
}

func (b *collectorsBed) feed() {
	v := mbuf.NewVec()
	for _, v[0] = range b.taken {
		b.reports.FreeBulk(v, 1)
	}
	b.taken = nil
}

func sameReports(t *testing.T, ringSize int, change func(*Rules)) {
	sameOf(t, newCollectorsBed(t, 3, ringSize, change), newCollectorsBed(t, 3, ringSize, change), func(r *rand.Rand, _ int) [][]byte {
		frames := make([][]byte, r.IntN(mbuf.MaxBurst+1))
		for i := range frames {
			frames[i] = reported(t, r)
		}
		return frames
	})
}

// sameOf compares reports by template with those that are built field by field.
func sameOf(t *testing.T, by, whole *collectorsBed, bursts func(r *rand.Rand, burst int) [][]byte) {
	whole.reporter.WithoutTemplates() // all is left to reportOne
	r, reports := rand.New(rand.NewPCG(5, 6)), 0
	for burst := range rounds.Of(30, 3) {
		frames := bursts(r, burst)
		step := int64(r.IntN(2e6))
		for _, b := range []*collectorsBed{by, whole} {
			b.network.RX = frames
			b.Poll()
			b.step(step)
		}
		got, want := by.handedOver(), whole.handedOver()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("burst %d:\n%x\nwithout the template\n%x", burst, got, want)
		}
		for _, packets := range want {
			reports += len(packets)
		}
		if !reflect.DeepEqual(by.counters, whole.counters) {
			t.Fatalf("burst %d: counters %+v\nwithout the template %+v", burst, by.counters, whole.counters)
		}
		if !reflect.DeepEqual(by.host.TX, whole.host.TX) {
			t.Fatalf("burst %d: other packets leave", burst)
		}
	}
	if reports < rounds.Of(10, 3) && whole.counters.Collectors[0].Dropped[reporting.DropTooBig] == 0 {
		t.Errorf("only %d report packets", reports)
	}
	for _, b := range []*collectorsBed{by, whole} {
		b.Close()
		b.handedOver()
		if n := b.pool.InUse() + b.reports.InUse(); n != 0 {
			t.Errorf("%d mbufs did not come home", n)
		}
	}
}
