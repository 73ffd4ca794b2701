package report_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
)

// decoded returns the reports of a packet. It fails the test where something is not sound.
func decoded(t *testing.T, payload []byte) (h decode.Header, all []decode.Report) {
	t.Helper()
	var p decode.Reports
	err := p.Open(payload)
	for r := (decode.Report{}); p.Next(&r); {
		if r.Problem != decode.NoProblem {
			t.Errorf("%s: %x", r.Problem.Text(), payload)
		}
		all = append(all, r)
	}
	if err != nil || p.Err != nil {
		t.Fatalf("%v, %v: %x", err, p.Err, payload)
	}
	return p.Header, all
}

// same tells whether the decoded report says what r said.
func same(t *testing.T, r *report.Individual, got *decode.Report) {
	t.Helper()
	if got.RepType != r.RepType || got.InType != r.InType || got.Dropped != r.Dropped ||
		got.Congested != r.CongestedQueue || got.Tracked != r.TrackedFlow || got.Intermediate != r.Intermediate ||
		int(got.MDLength)*4 != len(r.Metadata) || len(got.Inner) != (len(r.Inner)+3)&^3 {
		t.Errorf("%+v became %+v", r, got)
	}
	if r.RepType != report.INT {
		if got.HasMain {
			t.Errorf("inner only with metadata: %+v", got)
		}
		return
	}
	if got.RepMdBits != r.RepMdBits || got.DomainID != r.DomainSpecificID || got.DSMdBits != r.DSMdBits || got.DSMdStatus != r.DSMdStatus {
		t.Errorf("%+v became %+v", r, got)
	}
	values := map[string]uint64{
		"hop_latency": uint64(got.Own.Latency), "ingress_timestamp": got.Own.IngressTime, "egress_timestamp": got.Own.EgressTime,
		"tx_utilization": uint64(got.Own.TxUtilization),
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
		if x, ok := values[v.name]; ok && x != want {
			t.Errorf("%s is %d, want %d", v.name, x, want)
		}
		at += v.size
	}
	if !bytes.Equal(got.DSMetadata, r.Metadata[at:]) {
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
		payload := p.Seal(h)
		if len(in) == 0 {
			if err := new(decode.Reports).Open(payload); !errors.Is(err, decode.ErrTruncated) && !errors.Is(err, decode.ErrNotReport) {
				t.Errorf("no report: %v", err)
			}
			continue
		}
		header, all := decoded(t, payload)
		if len(all) != len(in) || header.HwID != h.HwID || header.Sequence != h.Sequence || header.NodeID != h.NodeID {
			t.Fatalf("%d of %d reports, %+v", len(all), len(in), header)
		}
		for i := range in {
			same(t, &in[i], &all[i])
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
		header, all := decoded(t, b)
		if len(all) != 1 {
			t.Fatalf("%d reports: %x", len(all), b)
		}
		sameOld(t, f, &h, &r, &header, &all[0])
		if want := r.Inner; !bytes.HasSuffix(b, want[:min(len(want), len(all[0].Inner))]) && len(b) < room {
			t.Errorf("inner contents of %+v became %x", r, b)
		}
	}
}

// short is a timestamp as formats before 2.0 have it.
func short(t uint64) uint64 { return min(t&(1<<32-1), 1<<32-2) }

func sameOld(t *testing.T, f report.Format, h *report.GroupHeader, r *report.Individual, head *decode.Header, got *decode.Report) {
	t.Helper()
	if head.HwID != h.HwID || head.Sequence != h.Sequence || got.Dropped != r.Dropped || got.Congested != r.CongestedQueue || got.Tracked != r.TrackedFlow {
		t.Errorf("%+v %+v became %+v %+v", h, r, head, got)
	}
	if head.HasNode && head.NodeID != h.NodeID || !head.HasNode && (f == report.Format10 || got.NextProtocol != 0) {
		t.Errorf("node id of %+v, want %d", head, h.NodeID)
	}
	own, read := r.Own, &got.Own
	const none, noTime = inthdr.Unknown, uint64(inthdr.UnknownTime)
	asked := func(bit uint16) bool { return r.RepMdBits&bit != 0 }
	local := f == report.Format10 || got.NextProtocol == 2 // 0.5 has one of two headers, and no place for more
	for _, x := range []struct {
		name             string
		asked            bool
		got, want, never uint64
	}{
		{"ingress interface", asked(report.MdInterfaces), uint64(read.Ingress), uint64(own.IngressPort), none},
		{"egress interface", asked(report.MdInterfaces), uint64(read.Egress), uint64(own.EgressPort), none},
		{"occupancy", asked(report.MdQueue) && local, uint64(read.Occupancy), uint64(own.QueueOccupancy), none},
		{"egress time", local && (asked(report.MdEgressTimestamp) || f == report.Format05 && asked(report.MdHopLatency)), read.EgressTime, short(own.EgressTimestamp), noTime},
		{"drop reason", asked(report.MdDropReason), uint64(read.DropReason), uint64(own.DropReason), none},
		{"latency", f == report.Format10 && asked(report.MdHopLatency), uint64(read.Latency), uint64(own.HopLatencyNs), none},
		{"utilization", f == report.Format10 && asked(report.MdTxUtilization), uint64(read.TxUtilization), uint64(own.TxUtilization), none},
		{"ingress time", true, read.IngressTime, short(own.IngressTimestamp), noTime},
	} {
		if !x.asked {
			x.want = x.never
		}
		if x.got != x.want && !(f == report.Format05 && x.name == "latency") {
			t.Errorf("%s is %d, want %d: %+v", x.name, x.got, x.want, got)
		}
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
		_, got := decoded(t, p.Seal(report.GroupHeader{HwID: 5, Sequence: 7, NodeID: 3}))
		var last decode.TLV
		n, all := 0, got[0].TLVs()
		for ; all.Next(&last); n++ {
		}
		if words := min(25, (room-report.GroupHeaderLen-4-tlvs-4)/4); n != 2 || all.Problem != decode.NoProblem || len(last.Data) != words*4 {
			t.Fatalf("room %d: %d TLVs, %+v; want %d words", room, n, last, words)
		}
	}
}
