package engine

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/exporters/record"
	"intsink/exporters/record/recordtest"
)

// explained is a bed whose reports say why they were sent, each in a packet of its
// own.
func explained(t *testing.T, change func(*Rules)) *bed {
	return newBed(t, func(r *Rules) {
		r.Report.Explain, r.Report.MaxReports, r.Report.Fragment, r.DropInterval = true, 1, 256, 1e9
		th := &r.Watches[0].Policy.Thresholds
		th.DropInterval, th.LossWindow, th.LossTimeout, th.LossInterval = 1e9, 1024, 200e6, 1e9
		if change != nil {
			change(r)
		}
	})
}

// why is all reports that left, each as its events, D, Q, F, drops, lost and drop
// reason.
func (b *bed) why() (all []string) {
	b.t.Helper()
	for _, r := range b.decoded() {
		s := strings.Join(r.Names(), "+")
		for _, flag := range []struct {
			on   bool
			name string
		}{{r.Dropped, " D"}, {r.Congested, " Q"}, {r.Tracked, " F"}} {
			if flag.on {
				s += flag.name
			}
		}
		if n := r.Drops; n > 0 {
			s += " drops " + string(rune('0'+n))
		}
		if n := r.Lost; n > 0 {
			s += " lost " + string(rune('0'+n))
		}
		if r.Has(record.KnownDropReason) {
			s += " " + report.DropReasons[r.DropReason]
		}
		all = append(all, s)
	}
	return all
}

// decoded is all reports that left.
func (b *bed) decoded() (all []recordtest.Report) {
	b.t.Helper()
	for _, p := range b.sealed() {
		all = append(all, recordtest.Decode(b.t, p).Reports...)
	}
	for i := range all {
		if !all[i].Has(record.KnownExplanation) {
			b.t.Fatalf("not explained: %+v", all[i])
		}
	}
	return all
}

// expect polls with frames from the network, and from the host, and compares the
// reports.
func (b *bed) expect(network, host [][]byte, want ...string) {
	b.t.Helper()
	b.network.RX, b.host.RX = network, host
	b.Poll()
	if got := b.why(); !slices.Equal(got, want) {
		b.t.Errorf("at %d ms: reports %q, want %q", b.now/1e6, got, want)
	}
}

func frames(f ...[]byte) [][]byte { return f }

// TestRefusedPacketsAreReported: of a flow the first, then one a second with the
// count, whatever other flows lose.
func TestRefusedPacketsAreReported(t *testing.T) {
	b := explained(t, nil)
	one, two := withINT(t, plain(1), nil), withINT(t, plain(2), nil)
	b.expect(frames(one, two), nil, "new_flow F", "new_flow F")
	b.host.Room = 0
	b.expect(frames(one, two, one), nil, "drop D F drops 1 traffic_manager", "drop D F drops 1 traffic_manager")
	b.now += 1e9 - 1
	b.expect(frames(one), nil)
	b.now++
	b.expect(frames(one, one, two), nil, "drop D F drops 3 traffic_manager", "drop D F drops 1 traffic_manager")
	b.host.Room = unlimited
	b.now += 9e8
	b.expect(frames(one), nil) // refresh was restarted, too
	b.balance()
	c := b.Snapshot()
	if d := c.Links[0].Direction[burst.ToHost]; d.Dropped[burst.DropTxFull] != 7 || c.Reported[event.Drop] != 4 || c.Detector.Fired[event.Drop] != 7 ||
		c.Detector.Suppressed[event.Drop][event.SuppressInterval] != 3 {
		t.Errorf("dropped %v, counters %+v", d.Dropped, c)
	}
}

// TestADropShowsThePacketAsItWasToLeave, with the sink's ports in its direction.
func TestADropShowsThePacketAsItWasToLeave(t *testing.T) {
	b := explained(t, nil)
	b.host.Room, b.network.Room = 0, 0
	b.network.RX = frames(withINT(t, plain(1), nil))
	b.Poll()
	b.host.RX = frames(plain(2))
	b.Poll()
	b.network.RX = frames(plain(3))
	b.Poll()
	all := b.decoded()
	if len(all) != 4 {
		t.Fatalf("%d reports, want new_flow and three of drop", len(all))
	}
	for i, want := range []struct {
		in, out uint32
		source  string
		tracked bool
	}{{1, 2, "10.0.0.1", true}, {2, 1, "10.0.0.2", false}, {1, 2, "10.0.0.3", false}} {
		r := &all[i+1]
		own(t, "drop_reason", r.Raw.Own.DropReason, 51)
		own(t, "ingress interface", r.Raw.Own.Ingress, want.in)
		own(t, "egress interface", r.Raw.Own.Egress, want.out)
		if r.Source.String() != want.source || !r.Has(record.KnownMACs) || r.INT != "" || r.Tracked != want.tracked ||
			r.Raw.RepMdBits&report.MdDropReason == 0 || r.DestinationPort != 8000 {
			t.Errorf("drop report %d: %+v", i, r)
		}
	}
	b.balance()
}

// TestRefusedWithoutFlow: per direction and reason, as the watches that want it.
func TestRefusedWithoutFlow(t *testing.T) {
	b := explained(t, nil)
	b.host.Room, b.network.Room = 1, 0
	b.expect(frames(plain(1), plain(2), plain(3)), frames(plain(4)), "drop D drops 1 traffic_manager", "drop D drops 1 traffic_manager")
	b.now += 1e9
	b.expect(frames(plain(2)), nil, "drop D drops 2 traffic_manager")
	b.balance()

	b = explained(t, func(r *Rules) { r.Watches[0].Policy.Events &^= event.Drop.Set() })
	b.host.Room = 0
	b.expect(frames(plain(1), withINT(t, plain(2), nil)), nil, "new_flow F")
	b.balance()
}

func bad(t *testing.T, n int) []byte {
	f := withINT(t, plain(n), nil)
	f[42] |= 0xc0 // an INT type that does not exist
	return f
}

// TestOddPacketsAreReported: malformed, leak and unknown_domain, each once per port
// and second.
func TestOddPacketsAreReported(t *testing.T) {
	foreign := func(n int) []byte {
		return withINT(t, plain(n), func(s *intgen.Source, _ []intgen.Hop) {
			s.DomainID, s.DSInstruction, s.DomainPerHop = 0x7777, 0x8000, 4
		})
	}
	crooked := func(n int) []byte { // its Hop ML does not agree with the bitmap
		f := withINT(t, plain(n), nil)
		f[42+4+2] ^= 1
		return f
	}
	b := explained(t, nil)
	b.expect(frames(bad(t, 1), bad(t, 2), foreign(3), foreign(4), crooked(5)), frames(withINT(t, plain(6), nil), withINT(t, plain(7), nil)),
		"malformed", "new_flow+unknown_domain F", "new_flow F", "new_flow F", "leak F")
	b.now += 1e9
	b.expect(frames(foreign(4), crooked(5)), frames(withINT(t, plain(6), nil)), "unknown_domain F", "malformed F", "leak F")
	b.now += 1e9 - 1
	b.expect(frames(bad(t, 1)), nil)
	if len(b.host.TX) != 8 || !bytes.Equal(b.host.TX[3], plain(4)) || !bytes.Equal(b.host.TX[0], bad(t, 1)) {
		t.Errorf("%d packets passed", len(b.host.TX))
	}
	b.balance()
	c := b.Snapshot()
	for e, want := range map[event.Event]uint64{event.Malformed: 5, event.UnknownDomain: 3, event.Leak: 3} {
		sum := c.Reported[e] + c.Detector.Suppressed[e][event.SuppressInterval]
		if c.Detector.Fired[e] != want || sum != want {
			t.Errorf("%v: fired %d, reported or suppressed %d, want %d", e, c.Detector.Fired[e], sum, want)
		}
	}
}

// TestMalformedIsDroppedByPolicy, in one report with the event.
func TestMalformedIsDroppedByPolicy(t *testing.T) {
	b := explained(t, func(r *Rules) { r.DropMalformed = true })
	b.expect(frames(bad(t, 1), bad(t, 2)), nil, "drop+malformed D drops 1 acl_deny")
	b.now += 1e9
	b.expect(frames(bad(t, 1)), nil, "drop+malformed D drops 2 acl_deny")
	if len(b.host.TX) != 0 {
		t.Errorf("%d packets passed", len(b.host.TX))
	}
	b.balance()
}

// TestNothingOfATapIsDropped: its packets go nowhere, so that no policy drops them and no report says so.
func TestNothingOfATapIsDropped(t *testing.T) {
	b := explained(t, func(r *Rules) { r.DropMalformed = true })
	b.remake(func(c *WorkerConfig) { c.Links = []burst.Link{{Network: b.network, NetworkID: 1}} })
	b.expect(frames(bad(t, 1)), nil, "malformed")
	b.step(2e6)
	if l := b.Snapshot().Links[0]; l.Direction[burst.ToHost].Dropped[burst.DropTap] != 1 || l.Direction[burst.ToHost].Dropped[burst.DropMalformed] != 0 {
		t.Errorf("malformed %v, dropped %v", l.Malformed, l.Direction[burst.ToHost].Dropped)
	}
}

// TestWatchesThatDoNotAsk: a watch without the event uses up no limit and gets no report.
func TestWatchesThatDoNotAsk(t *testing.T) {
	foreign := func(n int) []byte {
		return withINT(t, plain(n), func(s *intgen.Source, _ []intgen.Hop) {
			s.DomainID, s.DSInstruction, s.DomainPerHop = 0x7777, 0x8000, 4
		})
	}
	b := explained(t, func(r *Rules) {
		r.Watches = []watch.Watch{{Name: "deaf", Match: watch.Match{SourcePort: []watch.PortRange{{First: 1024, Last: 1024}}}, Collectors: 1}, r.Watches[0]}
		deaf := r.Watches[1].Policy
		deaf.Events = event.NewFlow.Set()
		r.Watches[0].Policy = deaf
	})
	other := func(n int) []byte { // from another port, so of the other watch
		f := plain(n)
		binary.BigEndian.PutUint16(f[34:], 2000)
		return withINT(t, f, func(s *intgen.Source, _ []intgen.Hop) {
			s.DomainID, s.DSInstruction, s.DomainPerHop = 0x7777, 0x8000, 4
		})
	}
	b.expect(frames(foreign(1), other(2)), nil, "new_flow F", "new_flow+unknown_domain F")
	b.balance()
}

const numberedDomain = 0x5453

// numberPackets describes a domain whose sources number their packets.
func numberPackets(r *Rules) {
	d := inthdr.Domain{ID: numberedDomain}
	d.Bits[0].Length, d.Bits[0].SourceOnly, d.Bits[0].Role = 4, true, inthdr.Sequence
	r.INT.Domains = []inthdr.Domain{d}
}

// numberedPacket is packet n of a flow of that domain.
func numberedPacket(t *testing.T, flow int, n uint32) []byte {
	return withINT(t, plain(flow), func(s *intgen.Source, _ []intgen.Hop) {
		s.DomainID, s.DSInstruction, s.SourceOnly = numberedDomain, 0x8000, binary.BigEndian.AppendUint32(nil, n)
	})
}

// TestLossHasNoPacket: what a flow lost is reported when it is known, with the
// flow's key.
func TestLossHasNoPacket(t *testing.T) {
	b := explained(t, numberPackets)
	tick := func(ns int64, want ...string) {
		t.Helper()
		b.step(ns)
		if got := b.why(); !slices.Equal(got, want) {
			t.Errorf("at %d ms: reports %q, want %q", b.now/1e6, got, want)
		}
	}
	b.expect(frames(numberedPacket(t, 1, 1)), nil, "new_flow F")
	b.expect(frames(numberedPacket(t, 1, 4), numberedPacket(t, 1, 2), numberedPacket(t, 1, 6)), nil)
	tick(200e6)
	b.step(1e6)
	all := b.decoded()
	if len(all) != 1 || !slices.Equal(all[0].Names(), []string{"loss"}) || all[0].Lost != 2 || all[0].Source.String() != "10.0.0.1" ||
		all[0].INT != "" || all[0].FlowPackets != 4 || !all[0].Tracked {
		t.Errorf("reports %+v", all)
	}
	b.expect(frames(numberedPacket(t, 1, 9)), nil) // 7 and 8 wait for their second
	tick(300e6)
	tick(690e6)
	tick(20e6, "loss F lost 2")
	b.balance()
	if c := b.Snapshot(); c.Detector.Lost != 4 || c.Detector.Reordered != 1 || c.Reported[event.Loss] != 2 {
		t.Errorf("counters %+v", c.Detector)
	}
}

// TestLossOutlivesItsFlow: what is lost of a flow is reported with its key when its time
// has come, even where the flow has ended by then.
func TestLossOutlivesItsFlow(t *testing.T) {
	b := explained(t, func(r *Rules) {
		numberPackets(r)
		r.Watches[0].Policy.Thresholds.LossInterval = 60e9
	})
	b.expect(frames(numberedPacket(t, 1, 1)), nil, "new_flow F")
	b.expect(frames(numberedPacket(t, 1, 3)), nil)
	var lost []string
	for ms := range 70_000 {
		if ms == 1000 {
			b.network.RX = frames(numberedPacket(t, 1, 5))
			b.Poll()
		}
		b.step(1e6)
		for _, r := range b.decoded() {
			if slices.Equal(r.Names(), []string{"loss"}) {
				lost = append(lost, r.Source.String()+" to "+r.Destination.String())
			}
		}
	}
	if b.table.Len() != 0 || !slices.Equal(lost, []string{"10.0.0.1 to 10.1.0.1", "10.0.0.1 to 10.1.0.1"}) {
		t.Errorf("%d flows, losses of %q", b.table.Len(), lost)
	}
	b.balance()
}
