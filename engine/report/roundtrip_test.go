package report_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"intsink/engine/report"
	"intsink/engine/report/decode"
	"intsink/engine/report/reporttest"
)

// same tells whether the decoded report says what r said.
func same(t *testing.T, r *report.Individual, got *decode.Report) {
	t.Helper()
	if *got.RepType != uint8(r.RepType) || *got.InType != uint8(r.InType) || got.Dropped != r.Dropped ||
		got.CongestedQueue != r.CongestedQueue || got.TrackedFlow != r.TrackedFlow || *got.Intermediate != r.Intermediate ||
		int(*got.MDLength)*4 != len(r.Metadata) || got.Inner.Length != (len(r.Inner)+3)&^3 || got.Problem != "" {
		t.Errorf("%+v became %s", r, reporttest.ToJSON(t, got))
	}
	if r.RepType != report.INT {
		if got.RepMdBits != nil || len(got.Metadata) != 0 {
			t.Errorf("inner only with metadata: %s", reporttest.ToJSON(t, got))
		}
		return
	}
	if *got.RepMdBits != r.RepMdBits || *got.DomainSpecificID != r.DomainSpecificID || *got.DSMdBits != r.DSMdBits || *got.DSMdStatus != r.DSMdStatus {
		t.Errorf("%+v became %s", r, reporttest.ToJSON(t, got))
	}
	at := 0
	for i, v := range repMd { // every value, read by hand
		if r.RepMdBits<<i&0x8000 == 0 {
			continue
		}
		want := uint64(binary.BigEndian.Uint32(r.Metadata[at:]))
		if v.size == 8 {
			want = binary.BigEndian.Uint64(r.Metadata[at:])
		}
		if x, ok := got.Metadata.Get(v.name); ok && x != want {
			t.Errorf("%s is %d, want %d", v.name, x, want)
		}
		at += v.size
	}
	if !bytes.Equal(got.DSMetadata, r.Metadata[at:]) && len(r.Metadata) > at {
		t.Errorf("domain specific %x became %x", r.Metadata[at:], got.DSMetadata)
	}
}

// repMd is what the RepMdBits stand for, and the names of those that are one value.
var repMd = [16]struct {
	name string
	size int
}{
	{"reserved_0", 4}, {"", 4}, {"hop_latency", 4}, {"", 4}, {"ingress_timestamp", 8}, {"egress_timestamp", 8}, {"", 8}, {"tx_utilization", 4},
	{"", 4}, {"reserved_9", 4}, {"reserved_10", 4}, {"reserved_11", 4}, {"reserved_12", 4}, {"reserved_13", 4}, {"reserved_14", 4}, {"", 4},
}

// Decoding gives what was encoded, whatever is coalesced.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		var p report.Packet
		p.Open(make([]byte, 64+rng.IntN(3000)))
		var in []report.Individual
		for range 1 + rng.IntN(12) {
			r := report.RandomReport(rng)
			if p.Append(&r) {
				in = append(in, r)
			}
		}
		h := report.GroupHeader{HwID: uint8(rng.IntN(64)), Sequence: rng.Uint32N(1 << 22), NodeID: rng.Uint32()}
		m, err := decode.Decode(p.Seal(h))
		if len(in) == 0 {
			if !errors.Is(err, decode.ErrTruncated) {
				t.Errorf("no report: %v", err)
			}
			continue
		}
		if err != nil || len(m.Reports) != len(in) || m.HwID != h.HwID || m.SequenceNumber != h.Sequence || *m.NodeID != h.NodeID {
			t.Fatalf("%v: %d of %d reports, %s", err, len(m.Reports), len(in), reporttest.ToJSON(t, m.Header))
		}
		for i := range in {
			same(t, &in[i], &m.Reports[i])
		}
	}
}

// Decoding what was encoded gives r: == r for the formats of one report a packet.
func TestRoundTripOld(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		r := report.RandomReport(rng)
		r.Intermediate = false
		m := report.Metadata{
			IngressPort: uint16(rng.Uint32()), EgressPort: uint16(rng.Uint32()), HopLatencyNs: rng.Uint32(),
			QueueID: uint8(rng.Uint32()), QueueOccupancy: rng.Uint32N(1 << 24),
			IngressTimestamp: rng.Uint64(), EgressTimestamp: rng.Uint64(), TxUtilization: rng.Uint32(), DropReason: uint8(rng.Uint32()),
		}
		r.Own, r.Metadata = &m, nil
		f := report.Format10 + report.Format(rng.IntN(2))
		room := rng.IntN(400)
		var p report.Packet
		p.OpenAs(f, make([]byte, room))
		h := report.GroupHeader{HwID: uint8(rng.IntN(64)), Sequence: rng.Uint32(), NodeID: rng.Uint32()}
		taken := p.Append(&r)
		b := p.Seal(h)
		if taken != (b != nil) || taken && r.InType == report.DSExtension || !taken && r.InType != report.DSExtension && room > 12+4+16+14 {
			t.Fatalf("%+v in %d bytes: taken %v, sealed %x", r, room, taken, b)
		}
		if !taken {
			continue
		}
		got, err := decode.Decode(b)
		if err != nil || len(got.Reports) != 1 {
			t.Fatalf("%v: %x", err, b)
		}
		sameOld(t, f, &h, &r, got)
		if want := r.Inner; !bytes.HasSuffix(b, want[:min(len(want), got.Reports[0].Inner.Length)]) && len(b) < room {
			t.Errorf("inner contents of %+v became %x", r, b)
		}
	}
}

// short is a timestamp as formats before 2.0 have it.
func short(t uint64) uint64 { return min(t&(1<<32-1), 1<<32-2) }

func sameOld(t *testing.T, f report.Format, h *report.GroupHeader, r *report.Individual, m *decode.Message) {
	t.Helper()
	got := &m.Reports[0]
	if m.HwID != h.HwID || m.SequenceNumber != h.Sequence || got.Dropped != r.Dropped ||
		got.CongestedQueue != r.CongestedQueue || got.TrackedFlow != r.TrackedFlow || got.Problem != "" {
		t.Errorf("%+v %+v became %s", h, r, reporttest.ToJSON(t, m))
	}
	if m.NodeID != nil && *m.NodeID != h.NodeID || m.NodeID == nil && (f == report.Format10 || *got.NextProtocol != 0) {
		t.Errorf("node id of %s, want %d", reporttest.ToJSON(t, m), h.NodeID)
	}
	own := r.Own
	bits := map[string]struct {
		bit  uint16
		want uint64
	}{
		"ingress_interface_id": {report.MdInterfaces, uint64(own.IngressPort)},
		"egress_interface_id":  {report.MdInterfaces, uint64(own.EgressPort)},
		"queue_occupancy":      {report.MdQueue, uint64(own.QueueOccupancy)},
		"egress_timestamp":     {report.MdEgressTimestamp, short(own.EgressTimestamp)},
		"drop_reason":          {report.MdDropReason, uint64(own.DropReason)},
		"hop_latency":          {report.MdHopLatency, uint64(own.HopLatencyNs)},
		"tx_utilization":       {report.MdTxUtilization, uint64(own.TxUtilization)},
	}
	if f == report.Format05 { // one of two headers, and no place for these
		delete(bits, "hop_latency")
		delete(bits, "tx_utilization")
		if r.RepMdBits&report.MdDropReason != 0 {
			delete(bits, "queue_occupancy")
			delete(bits, "egress_timestamp")
		}
	}
	for name, x := range bits {
		v, ok := got.Metadata.Get(name)
		asked := r.RepMdBits&x.bit != 0 || f == report.Format05 && name == "egress_timestamp" && r.RepMdBits&report.MdHopLatency != 0
		if ok != asked || ok && v != x.want {
			t.Errorf("%s is %d, %v; want %d, %v: %s", name, v, ok, x.want, asked, reporttest.ToJSON(t, got))
		}
	}
	if v, ok := got.Metadata.Get("ingress_timestamp"); !ok || v != short(own.IngressTimestamp) {
		t.Errorf("ingress_timestamp of %s, want %d", reporttest.ToJSON(t, got), own.IngressTimestamp)
	}
}

// TestAppendCutOfAnExplainedReport: the last TLV is the packet, and shortened.
func TestAppendCutOfAnExplainedReport(t *testing.T) {
	const tlvs = 4 + report.ExplanationLen
	for room := range 200 {
		r := report.Individual{InType: report.Ethernet, Inner: make([]byte, 25*4)}
		b := make([]byte, 400)
		r.Explain(&report.Explanation{Events: 1, Trigger: report.NoTrigger}, b)
		var p report.Packet
		p.Open(make([]byte, room))
		taken := p.AppendCut(&r)
		if want := room >= report.GroupHeaderLen+4+tlvs+4; taken != want {
			t.Fatalf("room %d: taken %v", room, taken)
		}
		if b[tlvs+1] != 25 {
			t.Fatalf("room %d: the caller's TLV has %d words", room, b[tlvs+1])
		}
		if !taken {
			continue
		}
		m, err := decode.Decode(p.Seal(report.GroupHeader{HwID: 5, Sequence: 7, NodeID: 3}))
		words := min(25, (room-report.GroupHeaderLen-4-tlvs-4)/4)
		if err != nil || m.Reports[0].Problem != "" || len(m.Reports[0].Inner.TLVs) != 2 || m.Reports[0].Inner.TLVs[1].Length != words*4 {
			t.Fatalf("room %d: %v, %+v; want %d words", room, err, m.Reports[0].Inner, words)
		}
	}
}
