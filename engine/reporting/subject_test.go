package reporting

import (
	"bytes"
	"encoding/binary"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// TestReportOnTheWire compares the bytes of a report to each of two collectors (Telemetry Report
// 2.0, section 3.2), and the counters of both.
func TestReportOnTheWire(t *testing.T) {
	inner := bytes.Repeat([]byte{0x45, 1, 2, 3}, 10)
	for _, c := range []struct {
		name       string
		set        event.Set
		collectors uint64
		flow       bool
		bits       uint16 // RepMdBits
		flags      byte   // D, Q, F
		metadata   []uint32
	}{
		{"the first", event.NewFlow.Set(), 1, true, report.MdInterfaces | report.MdHopLatency, 2, []uint32{7<<16 | 9, 500}},
		{"the second", event.NewFlow.Set(), 2, true, report.MdInterfaces | report.MdHopLatency, 2, []uint32{7<<16 | 9, 500}},
		{"both, congested", event.Congestion.Set() | event.Sample.Set(), 3, true, report.MdInterfaces | report.MdHopLatency, 6, []uint32{7<<16 | 9, 500}},
		{"of no flow", event.Malformed.Set(), 3, false, report.MdInterfaces | report.MdHopLatency, 0, []uint32{7<<16 | 9, 500}},
		{"a drop", event.Drop.Set(), 3, false, report.MdInterfaces | report.MdHopLatency | report.MdDropReason, 8, []uint32{7<<16 | 9, 500, 71 << 16}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSide(t, Rules{MdBits: report.MdInterfaces | report.MdHopLatency, MaxDelay: 1e6}, 64, 1358, Budget{})
			s.Measure(1e9, 1e9+500, 7, 9, NewGauges(), 1)
			subject := Subject{Set: c.set, Collectors: c.collectors, InType: report.IPv4, Inner: inner, Entropy: 0x1234, Dropped: c.set.Has(event.Drop), Reason: 71}
			if c.flow {
				subject.Flow = &flows.Flow{}
			}
			s.Report(&subject, 1e9)
			s.Close(1e9)
			s.drain()
			for n := range s.sent {
				want := c.collectors >> n & 1
				count := s.count.Collectors[n]
				if uint64(len(s.sent[n])) != want || count.Reports != want || count.Packets != want {
					t.Fatalf("collector %d: %d report packets, %+v", n, len(s.sent[n]), count)
				}
				if want == 0 {
					continue
				}
				handoff, payload := report.TakeHandoff(s.sent[n][0])
				if handoff.Entropy != 0x1234 || handoff.Reports != 1 {
					t.Errorf("handoff %+v", handoff)
				}
				md := binary.BigEndian.AppendUint16(nil, c.bits)
				md = append(md, 0, 0, 0, 0, 0, 0) // Domain Specific ID, its bits and status
				for _, v := range c.metadata {
					md = binary.BigEndian.AppendUint32(md, v)
				}
				if got := payload[8+4:]; !bytes.Equal(got, append(md, inner...)) {
					t.Errorf("metadata and packet:\n%x\nwant\n%x%x", got, md, inner)
				}
				if head := payload[8:12]; head[0] != byte(report.INT)<<4|byte(report.IPv4) || head[3]>>4 != c.flags {
					t.Errorf("report header %x, want flags %04b", head, c.flags)
				}
			}
			for e := range event.NumEvents {
				want := uint64(0)
				if c.set.Has(e) {
					want = 1
				}
				if s.count.Reported[e] != want || s.count.Shed[e] != 0 {
					t.Errorf("%v: %d reported, %d shed", e, s.count.Reported[e], s.count.Shed[e])
				}
			}
		})
	}
}

// TestWhatAnExplanationSaysOfLosses: a report of a loss says what was lost since the last one, any other what the flow
// lost so far.
func TestWhatAnExplanationSaysOfLosses(t *testing.T) {
	s := newSide(t, Rules{Explain: true}, 64, 1358, Budget{})
	f := &flows.Flow{}
	f.Count(100)
	*f.Cold() = flows.Cold{Suppressed: 2, Lost: 30, Drops: 4}
	l, _ := f.Loss()
	l.Reported = 7
	trigger := event.Trigger{NodeID: 1, Reference: 2, Value: 3}
	for _, c := range []struct {
		set  event.Set
		flow *flows.Flow
		want report.Explanation
	}{
		{event.Loss.Set(), f, report.Explanation{Suppressed: 2, Packets: 1, Bytes: 100, Lost: 7, Drops: 4, Trigger: report.NoTrigger}},
		{event.Sample.Set(), f, report.Explanation{Suppressed: 2, Packets: 1, Bytes: 100, Lost: 30, Drops: 4, Trigger: report.NoTrigger}},
		{event.HopLatency.Set(), f, report.Explanation{Suppressed: 2, Packets: 1, Bytes: 100, Lost: 30, Drops: 4, Trigger: report.Trigger(trigger)}},
		{event.Sample.Set(), &flows.Flow{}, report.Explanation{Trigger: report.NoTrigger}},
		{event.Malformed.Set(), nil, report.Explanation{Trigger: report.NoTrigger}},
	} {
		c.want.Events = uint32(c.set)
		if s.explainFlow(c.set, trigger, c.flow); s.explanation != c.want {
			t.Errorf("%+v, want %+v", s.explanation, c.want)
		}
	}
}
