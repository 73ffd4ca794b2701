package engine

import (
	"encoding/binary"
	"testing"

	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/wire/report"
	"intsink/exporters/record"
	"intsink/exporters/record/recordtest"
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
func (b *bed) send(frames ...[]byte) []recordtest.Packet {
	b.t.Helper()
	b.network.RX = frames
	b.Poll()
	b.step(2e6)
	var out []recordtest.Packet
	for _, p := range b.sealed() {
		out = append(out, recordtest.Decode(b.t, p))
	}
	return out
}

// own compares a value that the sink tells of itself.
func own[T uint32 | uint64](t *testing.T, name string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %d, want %d", name, got, want)
	}
}

func TestOldFormats(t *testing.T) {
	const start = 1<<32 + 5
	for f, version := range map[report.Format]record.Version{report.Format10: record.Version10, report.Format05: record.Version05} {
		b := sampled(t, func(r *reporting.Rules) { r.Format, r.Ethernet, r.MdBits = f, true, reporting.AlwaysProvided })
		b.now = start
		got := b.send(withINT(t, plain(1), nil), withINT(t, plain(2), nil), withINT(t, plain(3), nil))
		if len(got) != 3 {
			t.Fatalf("version %v: %d report packets, want one a report", version, len(got))
		}
		for i, m := range got {
			r := &m.Reports[0]
			if m.Version != version || m.Sequence != uint32(i) || m.HwID != 5 || !m.HasNode || m.NodeID != 3 {
				t.Errorf("header %+v", m.Header)
			}
			if r.Dropped || r.Congested || !r.Tracked {
				t.Errorf("version %v: D Q F of %+v", version, r)
			}
			own(t, "ingress timestamp", r.Raw.Own.IngressTime, 5)
			own(t, "egress timestamp", r.Raw.Own.EgressTime, 5)
			own(t, "ingress interface", r.Raw.Own.Ingress, 1)
			own(t, "egress interface", r.Raw.Own.Egress, 2)
			if len(r.Hops) != 3 || !r.Has(record.KnownMACs) {
				t.Errorf("version %v: the packet has no Ethernet or INT: %+v", version, r)
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
		if r := &recordtest.Decode(t, all[len(all)-1]).Reports[0]; r.Source.String() != "10.0.0.1" || r.INT != "" {
			t.Errorf("format %d: %x", f, all[len(all)-1])
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
		want := []record.Version{record.Version20, record.Version10, record.Version05}[f]
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
		if len(got) != 1 || r.RepType != 1 || r.InType != 3 || r.Domain != 0x5453 || r.Raw.RepMdBits != bits ||
			r.DSMdBits != 0 || r.DSMdStatus != 0 || !r.Tracked {
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
			if r.RepType != 1 || r.Raw.RepMdBits != c.want || r.Domain != 0x5453 || r.DSMdBits != 0 || r.DSMdStatus != 0 || len(r.DSMetadata) != 0 {
				t.Errorf("bitmap %04x: RepMdBits %04x, want %04x: %+v", c.bitmap, r.Raw.RepMdBits, c.want, r)
			}
			if r.Dropped || r.Congested || !r.Tracked || r.Intermediate {
				t.Errorf("bitmap %04x: D Q F I of %+v", c.bitmap, r)
			}
			if r.INT != "mx" {
				t.Errorf("bitmap %04x: no INT-MX in %+v", c.bitmap, r)
			}
			// The next report is as configured again.
			got = b.send(withINT(t, plain(2), nil))
			if r = &got[0].Reports[0]; configured == 0 && r.RepType != 0 || configured != 0 && r.Raw.RepMdBits != configured || len(got) != 1 {
				t.Errorf("after INT-MX: %+v", r)
			}
			b.balance()
		}
	}
}

func TestMXInOldFormat(t *testing.T) {
	b := sampled(t, func(r *reporting.Rules) { r.Format = report.Format10 })
	got := b.send(mx(t, 1, 0xffff, 0, 0))
	if r := &got[0].Reports[0]; r.Raw.RepMdBits != 0b110100 { // ports, latency, egress timestamp
		t.Errorf("RepMdBits %06b", r.Raw.RepMdBits)
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
		if len(frame) < want || len(got) != 1 || len(got[0].Reports[0].Raw.Inner) != want {
			t.Errorf("headers of %d bytes: %d report packets, %d bytes of the packet; want %d", headers, len(got), len(got[0].Reports[0].Raw.Inner), want)
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
	if r.Raw.RepMdBits != reporting.AlwaysProvided || len(r.Raw.Inner) != 138-8-4-8-24-2 || r.INT == "" {
		t.Errorf("RepMdBits %04x, %d bytes, %+v", r.Raw.RepMdBits, len(r.Raw.Inner), r)
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
	b.Questions.Feed.Want(event.AllEvents)
	b.send(withINT(t, plain(1), nil), withINT(t, plain(2), nil), plain(3))
	got, missed := b.Questions.Feed.Take(nil, 10)
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
