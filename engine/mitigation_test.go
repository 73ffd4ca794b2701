package engine

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"intsink/engine/aside/mitigate"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/selector"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// mitigated is a bed whose link has mitigation.
func mitigated(t *testing.T, change func(*Rules)) *bed {
	b := explained(t, change)
	b.Worker.links[0].Droppable = true
	return b
}

// Mitigate hands rules over, and lets the worker take them over as its next tick does.
func (b *bed) Mitigate(t *mitigate.Table) {
	AsideOf[*mitigate.Aside](b.Worker).Mitigate(t)
	b.stages.turns.Tick(b.now)
}

// TestMitigationBeginsAndEndsWithATick.
func TestMitigationBeginsAndEndsWithATick(t *testing.T) {
	b := mitigated(t, nil)
	AsideOf[*mitigate.Aside](b.Worker).Mitigate(mitigate.New([]*mitigate.Rule{b.rule(flowOne, mitigate.Drop, 0)}))
	b.step(tickNs)
	host, _ := b.pass(plain(1))
	sameFrames(t, host)
	AsideOf[*mitigate.Aside](b.Worker).Mitigate(nil)
	if AsideOf[*mitigate.Aside](b.Worker).Mitigates(nil) {
		t.Error("the rules are said to have ended before the worker looked")
	}
	b.step(tickNs)
	if !AsideOf[*mitigate.Aside](b.Worker).Mitigates(nil) {
		t.Error("the rules are said to hold still")
	}
	host, _ = b.pass(plain(1))
	sameFrames(t, host, plain(1))
	b.balance()
}

// rule is one that lasts for a second of the bed's time.
func (b *bed) rule(m selector.Match, a mitigate.Action, bits uint64) *mitigate.Rule {
	return mitigate.NewRule(1, m, a, bits, b.now, b.now+1e9, 1)
}

var flowOne = selector.Match{
	Source:          []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")},
	Destination:     []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")},
	Protocol:        []uint8{17},
	DestinationPort: []selector.PortRange{{First: 8000, Last: 8000}},
}

// pass polls with frames from the network, and returns what the host got and the reports.
func (b *bed) pass(network ...[]byte) (host [][]byte, reports []string) {
	for _, f := range network {
		b.network.RX = append(b.network.RX, slices.Clone(f))
	}
	b.Poll()
	host, b.host.TX = b.host.TX, nil
	return host, b.why()
}

// sameFrames compares what the host got.
func sameFrames(t *testing.T, got [][]byte, want ...[]byte) {
	t.Helper()
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("the host got %d frames, want %d, or other bytes:\n%x\nwant\n%x", len(got), len(want), got, want)
	}
}

// TestMitigationDropsAFlow, with and without INT, while its rule lasts, and nothing else:
// the rest is without its INT, to the byte. Drops are reported as they came.
func TestMitigationDropsAFlow(t *testing.T) {
	b := mitigated(t, nil)
	one, two := withINT(t, plain(1), nil), withINT(t, plain(2), nil)
	host, reports := b.pass(one, two, plain(1), plain(3))
	sameFrames(t, host, plain(1), plain(2), plain(1), plain(3))
	if want := []string{"new_flow F", "new_flow F"}; !slices.Equal(reports, want) {
		t.Errorf("reports %q, want %q", reports, want)
	}

	r := b.rule(flowOne, mitigate.Drop, 0)
	b.Mitigate(mitigate.New([]*mitigate.Rule{r}))
	host, reports = b.pass(one, two, plain(1), one, plain(3))
	sameFrames(t, host, plain(2), plain(3))
	if want := []string{"drop D F drops 1 acl_deny", "drop D drops 1 acl_deny"}; !slices.Equal(reports, want) {
		t.Errorf("reports %q, want %q", reports, want)
	}
	want := mitigate.Counters{Packets: 3, Bytes: uint64(2*len(one) + len(plain(1)))}
	want.DroppedPackets, want.DroppedBytes = want.Packets, want.Bytes
	if got := r.Counters(); got != want {
		t.Errorf("the rule counts %+v, want %+v", got, want)
	}

	b.now += 1e9 // the rule has ended
	host, _ = b.pass(one, plain(1))
	sameFrames(t, host, plain(1), plain(1))

	r.Extend(b.now + 1)
	host, _ = b.pass(one)
	sameFrames(t, host)
	b.Mitigate(nil)
	host, _ = b.pass(one)
	sameFrames(t, host, plain(1))
	b.balance()
	c := &b.Snapshot().Links[0]
	if n := c.Direction[burst.ToHost].Dropped[burst.DropRule]; n != 4 || c.Mitigation.Dropped[mitigate.Drop] != 4 || c.INT[inthdr.MD] != 8 {
		t.Errorf("%d dropped, counted %+v, INT %d; want 4, 4, 8", n, c.Mitigation, c.INT[inthdr.MD])
	}
}

// TestMitigationBeforeFlowsAreMarked: a rule holds at once for flows that are there, however many, and has ended at
// once, too; with a packet that package fast passes in front of it, and one without INT behind.
func TestMitigationBeforeFlowsAreMarked(t *testing.T) {
	b := mitigated(t, func(r *Rules) { r.Watches[0].Policy.Thresholds.NewFlowRate = 0 })
	const all = 700 // more than are marked in two ticks
	for n := 1; n <= all; n++ {
		b.pass(withINT(t, plain(n), nil))
	}
	last := netip.PrefixFrom(address(10, 0, all>>8, all&0xff), 32)
	r := b.rule(selector.Match{Source: []netip.Prefix{last}}, mitigate.Drop, 0)
	send := func(want ...[]byte) {
		t.Helper()
		host, _ := b.pass(withINT(t, plain(1), nil), withINT(t, plain(all), nil), withINT(t, plain(2), nil), plain(all))
		sameFrames(t, host, want...)
	}
	b.Mitigate(mitigate.New([]*mitigate.Rule{r}))
	for range 5 {
		send(plain(1), plain(2))
		b.step(tickNs)
	}
	b.Mitigate(nil)
	for range 5 {
		send(plain(1), plain(all), plain(2), plain(all))
		b.step(tickNs)
	}
	if c := r.Counters(); c.DroppedPackets != 10 || c.Packets != 10 {
		t.Errorf("the rule counts %+v", c)
	}
	b.balance()
}

// TestMitigationOfFlowsInside: rules select packets by the tunnel, be flows told apart by what is inside.
func TestMitigationOfFlowsInside(t *testing.T) {
	forEachEncapsulation(t, func(t *testing.T, e *enclosed) {
		_, marked := e.frames(t, false)
		b := e.bed(t)
		b.Worker.links[0].Droppable = true
		inner := *b.rules
		inner.InnerKeys = true
		b.Reload(&inner)
		b.step(2e6)
		for range 4 {
			b.pass(marked)
		}
		to := netip.PrefixFrom(e.key.DstAddr(), e.key.DstAddr().BitLen())
		m := selector.Match{Destination: []netip.Prefix{to}, DestinationPort: []selector.PortRange{{First: e.key.DstPort(), Last: e.key.DstPort()}}}
		b.Mitigate(mitigate.New([]*mitigate.Rule{b.rule(m, mitigate.Drop, 0)}))
		host, _ := b.pass(marked)
		sameFrames(t, host)
		b.balance()
	})
}

// TestMitigationBesideAnotherAside: what rules have selected is forgotten with its burst.
func TestMitigationBesideAnotherAside(t *testing.T) {
	b := mitigated(t, func(r *Rules) { r.Verify = 2 })
	b.Mitigate(mitigate.New([]*mitigate.Rule{b.rule(flowOne, mitigate.Drop, 0)}))
	for range 8 {
		host, _ := b.pass(withINT(t, plain(1), nil))
		sameFrames(t, host)
	}
	b.Mitigate(nil)
	for range 4 {
		host, _ := b.pass(withINT(t, plain(2), nil))
		sameFrames(t, host, plain(2))
	}
	b.balance()
}

// TestMitigationIsForLinksThatSaySo.
func TestMitigationIsForLinksThatSaySo(t *testing.T) {
	b := explained(t, nil)
	b.Mitigate(mitigate.New([]*mitigate.Rule{b.rule(flowOne, mitigate.Drop, 0)}))
	host, _ := b.pass(plain(1))
	sameFrames(t, host, plain(1))
	b.balance()
}

// TestMitigationIsNoLoss: what the sink drops has been seen; nobody upstream lost it.
func TestMitigationIsNoLoss(t *testing.T) {
	b := mitigated(t, numberPackets)
	b.pass(numberedPacket(t, 1, 1))
	b.Mitigate(mitigate.New([]*mitigate.Rule{b.rule(flowOne, mitigate.Drop, 0)}))
	host, _ := b.pass(numberedPacket(t, 1, 2), numberedPacket(t, 1, 3))
	sameFrames(t, host)
	b.Mitigate(nil)
	b.pass(numberedPacket(t, 1, 4))
	for range 5 {
		b.step(300e6)
	}
	if n := b.detector.Counters.Lost; n != 0 {
		t.Errorf("%d packets are said to be lost", n)
	}
	for _, s := range b.why() {
		if strings.Contains(s, "loss") {
			t.Errorf("report %q", s)
		}
	}
	b.balance()
}

// TestMitigationSelects by what each attribute says.
func TestMitigationSelects(t *testing.T) {
	domain := inthdr.Domain{ID: 0x5453}
	domain.Bits[0].Length, domain.Bits[0].SourceOnly = 8, true
	device := withINT(t, plain(1), func(s *intgen.Source, hops []intgen.Hop) {
		s.DomainID, s.DSInstruction = 0x5453, 0x8000
		s.SourceOnly = []byte{2, 0, 0, 0, 0, 9, 0, 0}
	})
	for _, c := range []struct {
		name  string
		match selector.Match
		frame []byte
		drops bool
	}{
		{"device", selector.Match{Device: []uint64{0x0200000000090000}}, device, true},
		{"another device", selector.Match{Device: []uint64{0x020000000009}}, device, false},
		{"no device", selector.Match{Device: []uint64{0x0200000000090000}}, plain(1), false},
		{"source_mac", selector.Match{SourceMAC: []uint64{0x020000000001}}, plain(1), true},
		{"another source_mac", selector.Match{SourceMAC: []uint64{0x020000000002}}, plain(1), false},
		{"source_mac without IP", selector.Match{SourceMAC: []uint64{0x020000000001}}, append(plain(1)[:12:12], 0x88, 0xcc, 1, 2, 3, 4), true},
		{"ports without IP", selector.Match{DestinationPort: []selector.PortRange{{First: 0, Last: 65535}}}, append(plain(1)[:12:12], 0x88, 0xcc, 1, 2, 3, 4), false},
		{"source_port", selector.Match{SourcePort: []selector.PortRange{{First: 1000, Last: 1024}}}, plain(1), true},
		{"protocol", selector.Match{Protocol: []uint8{6}}, plain(1), false},
		{"IPv6 of IPv4", selector.Match{Source: []netip.Prefix{netip.MustParsePrefix("::/0")}}, plain(1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := mitigated(t, func(r *Rules) {
				r.INT.Domains = []inthdr.Domain{domain}
				r.Devices = []watch.DeviceField{{Domain: 0x5453}}
			})
			b.Mitigate(mitigate.New([]*mitigate.Rule{b.rule(c.match, mitigate.Drop, 0)}))
			for range 2 { // the second one's headers are known
				host, _ := b.pass(c.frame)
				if dropped := len(host) == 0; dropped != c.drops {
					t.Errorf("dropped: %v, want %v", dropped, c.drops)
				}
			}
			b.balance()
		})
	}
}

// TestMitigationPolices to the rate and its burst, and counts without dropping.
func TestMitigationPolices(t *testing.T) {
	b := mitigated(t, func(r *Rules) { r.Watches = nil })
	n := len(plain(1))
	police := b.rule(flowOne, mitigate.Police, uint64(8*n*100)) // 100 packets a second, ten at once and one
	count := b.rule(selector.Match{Protocol: []uint8{17}}, mitigate.Count, 0)
	b.Mitigate(mitigate.New([]*mitigate.Rule{police, count}))
	send := func(want int) {
		t.Helper()
		host, _ := b.pass(slices.Repeat([][]byte{plain(1)}, 30)...)
		if len(host) != want {
			t.Errorf("%d of 30 pass, want %d", len(host), want)
		}
	}
	send(11)
	b.now += 20e6
	send(2)
	host, _ := b.pass(plain(2))
	sameFrames(t, host, plain(2))
	b.balance()
	c := b.Snapshot().Links[0].Mitigation
	if c.Passed != [mitigate.NumActions]uint64{1, 0, 13} || c.Dropped != [mitigate.NumActions]uint64{0, 0, 47} {
		t.Errorf("passed %d, dropped %d", c.Passed, c.Dropped)
	}
	if got, want := police.Counters(), (mitigate.Counters{Packets: 60, Bytes: uint64(60 * n), DroppedPackets: 47, DroppedBytes: uint64(47 * n)}); got != want {
		t.Errorf("the rule counts %+v, want %+v", got, want)
	}
}

// TestMitigationAndOtherDrops: a packet is dropped once, whatever else would drop it.
func TestMitigationAndOtherDrops(t *testing.T) {
	discard := withINT(t, plain(1), func(s *intgen.Source, _ []intgen.Hop) { s.Discard = true })
	unsound := withINT(t, plain(1), nil)
	unsound[42] = 0xf0
	for name, change := range map[string]func(*Rules){
		"watched": nil, "unwatched": func(r *Rules) { r.Watches = nil },
	} {
		t.Run(name, func(t *testing.T) {
			b := mitigated(t, func(r *Rules) {
				r.DropMalformed = true
				if change != nil {
					change(r)
				}
			})
			r := b.rule(selector.Match{Protocol: []uint8{17}}, mitigate.Drop, 0)
			b.Mitigate(mitigate.New([]*mitigate.Rule{r}))
			host, _ := b.pass(discard, unsound, withINT(t, plain(1), nil), plain(1))
			sameFrames(t, host)
			b.balance()
			d := &b.Snapshot().Links[0].Direction[burst.ToHost].Dropped
			if d[burst.DropRule] != 3 || d[burst.DropMalformed] != 1 || d[burst.DropDiscard] != 0 || r.Counters().DroppedPackets != 3 {
				t.Errorf("dropped %d, the rule counts %+v", d, r.Counters())
			}
		})
	}
}

// TestMitigationEventsAreCounted: drops by rules are counted even if no watch reports drops.
func TestMitigationEventsAreCounted(t *testing.T) {
	b := mitigated(t, func(r *Rules) { r.Watches[0].Policy.Events &^= event.Drop.Set() })
	b.Mitigate(mitigate.New([]*mitigate.Rule{b.rule(flowOne, mitigate.Drop, 0)}))
	_, reports := b.pass(withINT(t, plain(1), nil), plain(1))
	if want := []string{"new_flow D F acl_deny"}; !slices.Equal(reports, want) {
		t.Errorf("reports %q, want %q", reports, want)
	}
	if n := b.detector.Counters.Fired[event.Drop]; n != 2 {
		t.Errorf("%d drops are counted, want 2", n)
	}
	b.balance()
}

// TestMitigationIsToldByEachReport: whatever event a packet has that a rule drops, its report says that it was dropped, and
// why; samples are of what leaves. Budgets, fragments as long as the packet and packets in one burst change nothing.
func TestMitigationIsToldByEachReport(t *testing.T) {
	for name, change := range map[string]func(*Rules){
		"as it is":  func(*Rules) {},
		"fragments": func(r *Rules) { r.Report.Fragment = 1000 },
		"whole INT": func(r *Rules) { r.Report.WholeINT = true },
		"no drops":  func(r *Rules) { r.Watches[0].Policy.Events &^= event.Drop.Set() },
	} {
		t.Run(name, func(t *testing.T) {
			b := mitigated(t, func(r *Rules) {
				r.Watches[0].Policy.Sample = 1
				change(r)
			})
			late := func(n int) []byte {
				return withINT(t, plain(n), func(_ *intgen.Source, hops []intgen.Hop) { hops[0].LatencyNs += 3_000_000 })
			}
			one, two := withINT(t, plain(1), nil), withINT(t, plain(2), nil)
			b.pass(one, two)
			b.Mitigate(mitigate.New([]*mitigate.Rule{b.rule(flowOne, mitigate.Drop, 0)}))
			latencies, samples := 0, 0
			for range 3 {
				b.step(tickNs)
				host, reports := b.pass(late(1), two, one, late(2), late(1), withINT(t, plain(3), nil))
				sameFrames(t, host, plain(2), plain(2), plain(3))
				for _, r := range reports {
					words := strings.Fields(r)
					dropped := slices.Contains(words, "D")
					if strings.Contains(words[0], "drop") && !dropped || dropped != slices.Contains(words, "acl_deny") || dropped && strings.Contains(words[0], "sample") {
						t.Errorf("report %q of %q", r, reports)
					}
					if strings.Contains(words[0], "hop_latency") && dropped {
						latencies++
					}
					if strings.Contains(words[0], "sample") {
						samples++
					}
				}
			}
			if latencies == 0 || samples != 9 {
				t.Errorf("%d reports of latencies of dropped packets; %d samples, want 9", latencies, samples)
			}
			b.balance()
		})
	}
}
