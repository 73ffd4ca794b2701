package engine

import (
	"encoding/binary"
	"testing"

	"intsink/engine/event"
	"intsink/engine/inspect"
	"intsink/engine/report"
	"intsink/engine/report/decode"
	"intsink/engine/reporting"
)

// sampled is a bed that reports every packet.
func sampled(t *testing.T, change func(*reporting.Rules)) *bed {
	return newBed(t, func(r *Rules) {
		r.Watches[0].Policy.Sample = 1
		if change != nil {
			change(&r.Report)
		}
	})
}

// send takes frames through one poll and returns the report packets, decoded.
func (b *bed) send(frames ...[]byte) []*decode.Message {
	b.t.Helper()
	b.network.RX = frames
	b.Poll()
	b.step(2e6)
	var out []*decode.Message
	for _, p := range b.sealed() {
		m, err := decode.Decode(p)
		if err != nil {
			b.t.Fatalf("%v: %x", err, p)
		}
		out = append(out, m)
	}
	return out
}

func own(t *testing.T, r *decode.Report, name string, want uint64) {
	t.Helper()
	if got, ok := r.Metadata.Get(name); !ok || got != want {
		t.Errorf("%s is %d, %v; want %d", name, got, ok, want)
	}
}

func TestOldFormats(t *testing.T) {
	const start = 1<<32 + 5
	for f, version := range map[report.Format]float64{report.Format10: 1, report.Format05: 0.5} {
		b := sampled(t, func(r *reporting.Rules) { r.Format, r.Ethernet, r.MdBits = f, true, reporting.AlwaysProvided })
		b.now = start
		got := b.send(withINT(t, plain(1), nil), withINT(t, plain(2), nil), withINT(t, plain(3), nil))
		if len(got) != 3 {
			t.Fatalf("version %v: %d report packets, want one a report", version, len(got))
		}
		for i, m := range got {
			r := &m.Reports[0]
			if m.Version != version || m.SequenceNumber != uint32(i) || m.HwID != 5 || m.NodeID == nil || *m.NodeID != 3 {
				t.Errorf("header %+v", m.Header)
			}
			if r.Dropped || r.CongestedQueue || !r.TrackedFlow {
				t.Errorf("version %v: D Q F of %+v", version, r)
			}
			own(t, r, "ingress_timestamp", 5)
			own(t, r, "egress_timestamp", 5)
			own(t, r, "ingress_interface_id", 1)
			own(t, r, "egress_interface_id", 2)
			if r.Inner.INT == nil || len(r.Inner.INT.Hops) != 3 || r.Inner.Flow.SourceMAC == "" {
				t.Errorf("version %v: the packet has no Ethernet or INT: %+v", version, r.Inner)
			}
		}
		b.balance()
	}
}

// A flow that ended has no Ethernet header to show.
func TestOldFlowEnd(t *testing.T) {
	for _, f := range []report.Format{report.Format10, report.Format05} {
		b := newBed(t, func(r *Rules) { r.Report.Format, r.Report.Ethernet = f, true })
		b.network.RX = [][]byte{withINT(t, plain(1), nil)}
		b.Poll()
		for range 40 {
			b.step(1e9)
		}
		all := b.sealed()
		m, err := decode.Decode(all[len(all)-1])
		if err != nil || m.Reports[0].Inner.Flow == nil || m.Reports[0].Inner.Flow.Source != "10.0.0.1" || m.Reports[0].Inner.INT != nil {
			t.Errorf("format %d: %v, %x", f, err, all[len(all)-1])
		}
		b.balance()
	}
}

func TestReloadChangesTheFormat(t *testing.T) {
	b := sampled(t, nil)
	for i, f := range []report.Format{report.Format10, report.Format20, report.Format05} {
		next := *b.rules
		next.Report.Format = f
		b.Reload(&next)
		b.step(2e6)
		got := b.send(withINT(t, plain(i), nil))
		want := []float64{2, 1, 0.5}[f]
		if len(got) != 1 || got[0].Version != want {
			t.Fatalf("%d report packets after the change to version %v: %+v", len(got), want, got)
		}
	}
	b.balance()
}

// The domain of a profile stands in every report, with or without metadata.
func TestDomainOfProfile(t *testing.T) {
	for _, bits := range []uint16{0, report.MdInterfaces} {
		b := sampled(t, func(r *reporting.Rules) { r.Domain, r.MdBits, r.Ethernet, r.MaxReports = 0x5453, bits, true, 1 })
		got := b.send(withINT(t, plain(1), nil))
		r := &got[0].Reports[0]
		if len(got) != 1 || *r.RepType != 1 || *r.InType != 3 || *r.DomainSpecificID != 0x5453 || *r.RepMdBits != bits ||
			*r.DSMdBits != 0 || *r.DSMdStatus != 0 || !r.TrackedFlow {
			t.Errorf("metadata %04x: %d packets, %+v", bits, len(got), r)
		}
		b.balance()
	}
}

// mx makes INT-MD of no hops into INT-MX: shim type 3, and of the first word the
// version only (INT 2.1, section "INT-MX Header Format").
func mx(t *testing.T, n int, bitmap, domain, instruction uint16) []byte {
	f := withINT(t, plain(n), nil)
	const shim = 14 + 20 + 8
	f[shim] = 3<<4 | f[shim]&0xf
	h := f[shim+4:]
	binary.BigEndian.PutUint32(h, 2<<28)
	binary.BigEndian.PutUint16(h[4:], bitmap)
	binary.BigEndian.PutUint16(h[6:], domain)
	binary.BigEndian.PutUint16(h[8:], instruction)
	return f
}

// An INT-MX packet says what it wants of the sink, whatever the configuration
// adds to other packets' reports.
func TestMX(t *testing.T) {
	for _, c := range []struct{ bitmap, want uint16 }{
		{0, 0},
		{0x8000, 0}, // the node id stands in the group header
		{0xffff, reporting.AlwaysProvided},
		{0x8000 | report.MdHopLatency | report.MdQueue, report.MdHopLatency},
		{report.MdEgressTimestamp | report.MdBuffer | report.MdTxUtilization, report.MdEgressTimestamp},
		{report.MdLevel2Interfaces | report.MdDropReason, 0},
	} {
		for _, configured := range []uint16{0, reporting.AlwaysProvided} {
			b := sampled(t, func(r *reporting.Rules) { r.MdBits = configured })
			got := b.send(mx(t, 1, c.bitmap, 0x5453, 0x8000))
			if len(got) != 1 {
				t.Fatalf("bitmap %04x: %d report packets", c.bitmap, len(got))
			}
			r := &got[0].Reports[0]
			if *r.RepType != 1 || *r.RepMdBits != c.want || *r.DomainSpecificID != 0x5453 || *r.DSMdBits != 0 || *r.DSMdStatus != 0 || len(r.DSMetadata) != 0 {
				t.Errorf("bitmap %04x: RepMdBits %04x, want %04x: %+v", c.bitmap, *r.RepMdBits, c.want, r)
			}
			if r.Dropped || r.CongestedQueue || !r.TrackedFlow || *r.Intermediate {
				t.Errorf("bitmap %04x: D Q F I of %+v", c.bitmap, r)
			}
			if r.Inner.INT == nil || r.Inner.INT.Type != "mx" {
				t.Errorf("bitmap %04x: no INT-MX in %+v", c.bitmap, r.Inner)
			}
			// The next report is as configured again.
			got = b.send(withINT(t, plain(2), nil))
			if r = &got[0].Reports[0]; configured == 0 && *r.RepType != 0 || configured != 0 && *r.RepMdBits != configured || len(got) != 1 {
				t.Errorf("after INT-MX: %+v", r)
			}
			b.balance()
		}
	}
}

func TestMXInOldFormat(t *testing.T) {
	b := sampled(t, func(r *reporting.Rules) { r.Format = report.Format10 })
	got := b.send(mx(t, 1, 0xffff, 0, 0))
	if r := &got[0].Reports[0]; *r.RepMdBits != 0b110100 { // ports, latency, egress timestamp
		t.Errorf("RepMdBits %06b", *r.RepMdBits)
	}
	b.balance()
}

// A report of an old format waits for nothing, whatever max_reports and
// max_delay say.
func TestOldFormatsLeaveAtOnce(t *testing.T) {
	for _, f := range []report.Format{report.Format10, report.Format05} {
		b := sampled(t, func(r *reporting.Rules) { r.Format, r.MaxReports, r.MaxDelay = f, 0, 1e12 })
		b.network.RX = [][]byte{withINT(t, plain(1), nil), withINT(t, plain(2), nil)}
		b.Poll()
		if n := len(b.sealed()); n != 2 {
			t.Errorf("format %d: %d report packets at once, want 2", f, n)
		}
		b.balance()
	}
}

// TestFragmentOfTheProfile: the longest that fits a frame of 200 bytes, over IPv4 and,
// cut, over IPv6.
func TestFragmentOfTheProfile(t *testing.T) {
	for headers, want := range map[int]int{14 + 20 + 8: 136, 14 + 40 + 8: 116} {
		b := newBed(t, func(rules *Rules) {
			r := &rules.Report
			r.Domain, r.MdBits, r.Ethernet, r.MaxReports, r.Fragment = 0x5453, 0, true, 1, 136
			rules.setPayloads(200 - headers)
			rules.Watches[0].Policy.Sample = 1
		})
		frame := withINT(t, plain(1), nil)
		got := b.send(frame)
		if len(frame) < want || len(got) != 1 || got[0].Reports[0].Inner.Length != want {
			t.Errorf("headers of %d bytes: %d report packets, %d bytes of the packet; want %d", headers, len(got), got[0].Reports[0].Inner.Length, want)
		}
		b.balance()
	}
}

// TestMXThatAsksForMore than the configuration reckons with: the fragment is cut to
// the room, and the report is sent.
func TestMXThatAsksForMore(t *testing.T) {
	b := newBed(t, func(rules *Rules) {
		r := &rules.Report
		r.Domain, r.MdBits, r.Ethernet, r.MaxReports, r.Fragment = 0x5453, 0, true, 1, 116
		rules.setPayloads(200 - 62)
		rules.Watches[0].Policy.Sample = 1
	})
	got := b.send(mx(t, 1, 0xffff, 0x5453, 0))
	if len(got) != 1 {
		t.Fatalf("%d report packets, want one", len(got))
	}
	r := &got[0].Reports[0]
	if *r.RepMdBits != reporting.AlwaysProvided || r.Inner.Length != 138-8-4-8-24-2 || r.Inner.INT == nil || r.Problem != "" {
		t.Errorf("RepMdBits %04x, %d bytes, %+v", *r.RepMdBits, r.Inner.Length, r)
	}
	if c := b.Snapshot(); c.Collectors[0].Dropped[reporting.DropTooBig] != 0 {
		t.Errorf("dropped %v", c.Collectors[0].Dropped)
	}
	b.balance()
}

// TestFeedTellsReports: what is reported is in the feed once, with its flow and path,
// and a feed that nobody reads stays empty.
func TestFeedTellsReports(t *testing.T) {
	b := sampled(t, nil)
	b.send(withINT(t, plain(1), nil))
	b.Feed().Turn(true)
	b.send(withINT(t, plain(1), nil), withINT(t, plain(2), nil), plain(3))
	got, missed := b.Feed().Take(nil, 10)
	if len(got) != 2 || missed != 0 {
		t.Fatalf("%d notices, %d missed, want 2 and 0", len(got), missed)
	}
	for i, want := range []event.Set{event.Sample.Set(), event.Sample.Set() | event.NewFlow.Set()} {
		n := &got[i]
		if n.Events&want != want || !n.Tracked || !n.Known || n.Path.Hops != 3 || n.Time == 0 {
			t.Errorf("notice %d: %+v", i, n)
		}
		if id := inspect.FlowID(&n.Key); id == "" || i > 0 && id == inspect.FlowID(&got[0].Key) {
			t.Errorf("notice %d is about %s", i, id)
		}
	}
	b.balance()
}
