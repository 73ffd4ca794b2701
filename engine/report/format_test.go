package report

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

var (
	hop = Metadata{
		IngressPort: 1, EgressPort: 2, HopLatencyNs: 100, QueueID: 3, QueueOccupancy: 0x44,
		IngressTimestamp: 0x1_0000_03e8, EgressTimestamp: 0x2_0000_07d0, TxUtilization: 50, DropReason: 60,
	}
	oldGroup = GroupHeader{HwID: 5, Sequence: 0x01000064, NodeID: 9}
)

// goldenOld are written by hand from the documents: Telemetry Report 1.0,
// section 3.2, and 0.5, sections 3.2.1 to 3.2.3.
var goldenOld = []struct {
	name   string
	format Format
	r      Individual
	inner  string
	wire   string
	want   []string // in the JSON of the decoded report
}{
	{
		"1.0: Ethernet, nothing of its own", Format10,
		Individual{InType: Ethernet, TrackedFlow: true}, etherHex + ipv4TCPHex,
		`14 00 00 45 00000009 01000064 000003e8` + etherHex + ipv4TCPHex,
		[]string{`"in_type":3,"next_protocol":0,"header_length":4`, `"rep_md_bits":0,"metadata":{"ingress_timestamp":1000}`, `"source":"10.0.0.1"`},
	},
	{
		"1.0: IPv4 with INT, ports, latency and egress timestamp", Format10,
		// Length 7, NProt 1, RepMdBits 110100.
		Individual{InType: IPv4, TrackedFlow: true, RepMdBits: MdInterfaces | MdHopLatency | MdIngressTimestamp | MdEgressTimestamp}, intTCPHex,
		`17 3a 00 45 00000009 01000064 000003e8 00010002 00000064 000007d0` + intTCPHex,
		[]string{
			`"in_type":4,"next_protocol":1,"header_length":7,"dropped":false,"congested_queue":false,"tracked_flow":true,"rep_md_bits":52`,
			`"metadata":{"ingress_timestamp":1000,"ingress_interface_id":1,"egress_interface_id":2,"hop_latency":100,"egress_timestamp":2000}`,
			`"hops":[{"node_id":2,"queue_id":1,"queue_occupancy":34},{"node_id":1,`,
		},
	},
	{
		"1.0: every bit", Format10,
		Individual{InType: IPv4, Dropped: true, CongestedQueue: true, RepMdBits: 0xffff}, ipv4TCPHex,
		`1a 3f 81 85 00000009 01000064 000003e8 00010002 00000064 03000044 000007d0 033c0000 00000032` + ipv4TCPHex,
		[]string{`"dropped":true,"congested_queue":true,"tracked_flow":false,"rep_md_bits":63`, `"drop_queue_id":3,"drop_reason":60,"tx_utilization":50}`, `"drop_reason_name":"acl_deny"`},
	},
	{
		"0.5: Ethernet, nothing of its own", Format05,
		Individual{InType: Ethernet, TrackedFlow: true, RepMdBits: MdIngressTimestamp}, etherHex + ipv4TCPHex,
		`00 20 00 05 01000064 000003e8` + etherHex + ipv4TCPHex,
		[]string{`"next_protocol":0,"dropped":false,"congested_queue":false,"tracked_flow":true,"metadata":{"ingress_timestamp":1000}`, `"source":"10.0.0.1"`},
	},
	{
		"0.5: switch local", Format05,
		Individual{InType: Ethernet, TrackedFlow: true, RepMdBits: MdInterfaces | MdQueue | MdEgressTimestamp}, etherHex + ipv4TCPHex,
		`02 20 00 05 01000064 000003e8 00000009 00010002 03000044 000007d0` + etherHex + ipv4TCPHex,
		[]string{`"metadata":{"ingress_timestamp":1000,"ingress_interface_id":1,"egress_interface_id":2,"queue_id":3,"queue_occupancy":68,"egress_timestamp":2000}`},
	},
	{
		"0.5: switch local without a queue, hop latency as the difference of the timestamps", Format05,
		Individual{InType: Ethernet, TrackedFlow: true, RepMdBits: MdHopLatency}, etherHex + ipv4TCPHex,
		`02 20 00 05 01000064 000003e8 00000009 ffffffff ffffffff 000007d0` + etherHex + ipv4TCPHex,
		[]string{`"ingress_interface_id":null,"egress_interface_id":null,"queue_id":null,"queue_occupancy":null,"egress_timestamp":2000}`},
	},
	{
		"0.5: drop", Format05,
		Individual{InType: Ethernet, Dropped: true, RepMdBits: MdInterfaces | MdDropReason}, etherHex + ipv4TCPHex,
		`01 80 00 05 01000064 000003e8 00000009 00010002 033c0000` + etherHex + ipv4TCPHex,
		[]string{`"dropped":true`, `"queue_id":3,"drop_reason":60}`, `"drop_reason_name":"acl_deny"`},
	},
	{
		"0.5: headers of IP get an Ethernet header", Format05,
		Individual{InType: IPv4, TrackedFlow: true}, ipv4TCPHex,
		`00 20 00 05 01000064 000003e8 000000000000 000000000000 0800` + ipv4TCPHex,
		[]string{`"source_mac":"00:00:00:00:00:00"`, `"source":"10.0.0.1"`},
	},
}

func TestGoldenOld(t *testing.T) {
	for _, g := range goldenOld {
		t.Run(g.name, func(t *testing.T) {
			want := unhex(t, g.wire)
			g.r.Own, g.r.Inner = &hop, unhex(t, g.inner)
			var p Packet
			p.OpenAs(g.format, bytes.Repeat([]byte{0xee}, 1400))
			if !p.Append(&g.r) {
				t.Fatal("does not fit")
			}
			if !p.Full() || p.Append(&g.r) || p.Reports() != 1 {
				t.Error("a second report was taken")
			}
			if got := p.Seal(oldGroup); !bytes.Equal(got, want) {
				t.Errorf("encoded\n%x, want\n%x", got, want)
			}
			contains(t, &Decoder{INTPorts: []uint16{5000}, Strict: true}, g.wire, g.want...)
		})
	}
}

// decode(encode(r)) == r for the formats of one report a packet.
func TestRoundTripOld(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		r := randomReport(rng)
		r.Intermediate = false
		m := Metadata{
			IngressPort: uint16(rng.Uint32()), EgressPort: uint16(rng.Uint32()), HopLatencyNs: rng.Uint32(),
			QueueID: uint8(rng.Uint32()), QueueOccupancy: rng.Uint32N(1 << 24),
			IngressTimestamp: rng.Uint64(), EgressTimestamp: rng.Uint64(), TxUtilization: rng.Uint32(), DropReason: uint8(rng.Uint32()),
		}
		r.Own, r.Metadata = &m, nil
		f := Format10 + Format(rng.IntN(2))
		room := rng.IntN(400)
		var p Packet
		p.OpenAs(f, make([]byte, room))
		h := GroupHeader{HwID: uint8(rng.IntN(64)), Sequence: rng.Uint32(), NodeID: rng.Uint32()}
		taken := p.Append(&r)
		b := p.Seal(h)
		if taken != (b != nil) || taken && r.InType == DSExtension || !taken && r.InType != DSExtension && room > sealed10+maxOldLen {
			t.Fatalf("%+v in %d bytes: taken %v, sealed %x", r, room, taken, b)
		}
		if !taken {
			continue
		}
		got, err := Decode(b)
		if err != nil || len(got.Reports) != 1 {
			t.Fatalf("%v: %x", err, b)
		}
		sameOld(t, f, &h, &r, got)
		if want := r.inner(); !bytes.HasSuffix(b, want[:min(len(want), got.Reports[0].Inner.Length)]) && len(b) < room {
			t.Errorf("inner contents of %+v became %x", r, b)
		}
	}
}

func sameOld(t *testing.T, f Format, h *GroupHeader, r *Individual, m *Message) {
	t.Helper()
	got := &m.Reports[0]
	if m.HwID != h.HwID || m.SequenceNumber != h.Sequence || got.Dropped != r.Dropped ||
		got.CongestedQueue != r.CongestedQueue || got.TrackedFlow != r.TrackedFlow || got.Problem != "" {
		t.Errorf("%+v %+v became %s", h, r, toJSON(t, m))
	}
	if m.NodeID != nil && *m.NodeID != h.NodeID || m.NodeID == nil && (f == Format10 || *got.NextProtocol != 0) {
		t.Errorf("node id of %s, want %d", toJSON(t, m), h.NodeID)
	}
	own := r.Own
	bits := map[string]struct {
		bit  uint16
		want uint64
	}{
		"ingress_interface_id": {MdInterfaces, uint64(own.IngressPort)},
		"egress_interface_id":  {MdInterfaces, uint64(own.EgressPort)},
		"queue_occupancy":      {MdQueue, uint64(own.QueueOccupancy)},
		"egress_timestamp":     {MdEgressTimestamp, uint64(shortTime(own.EgressTimestamp))},
		"drop_reason":          {MdDropReason, uint64(own.DropReason)},
		"hop_latency":          {MdHopLatency, uint64(own.HopLatencyNs)},
		"tx_utilization":       {MdTxUtilization, uint64(own.TxUtilization)},
	}
	if f == Format05 { // one of two headers, and no place for these
		delete(bits, "hop_latency")
		delete(bits, "tx_utilization")
		if r.RepMdBits&MdDropReason != 0 {
			delete(bits, "queue_occupancy")
			delete(bits, "egress_timestamp")
		}
	}
	for name, x := range bits {
		v, ok := got.Metadata.Get(name)
		asked := r.RepMdBits&x.bit != 0 || f == Format05 && name == "egress_timestamp" && r.RepMdBits&MdHopLatency != 0
		if ok != asked || ok && v != x.want {
			t.Errorf("%s is %d, %v; want %d, %v: %s", name, v, ok, x.want, asked, toJSON(t, got))
		}
	}
	if v, ok := got.Metadata.Get("ingress_timestamp"); !ok || v != uint64(shortTime(own.IngressTimestamp)) {
		t.Errorf("ingress_timestamp of %s, want %d", toJSON(t, got), own.IngressTimestamp)
	}
}

// The packet is cut to the room; a header never is.
func TestOldIsCut(t *testing.T) {
	inner := unhex(t, etherHex+ipv4TCPHex)
	for _, f := range []Format{Format10, Format05} {
		whole := map[Format]int{Format10: 16 + 4, Format05: 12 + 16}[f]
		for room := range 120 {
			var p Packet
			p.OpenAs(f, make([]byte, room))
			r := Individual{InType: Ethernet, RepMdBits: MdInterfaces, Own: &hop, Inner: inner}
			if got, want := p.Append(&r), room >= whole; got != want {
				t.Fatalf("format %d, %d bytes: Append %v, want %v", f, room, got, want)
			}
			if b := p.Seal(oldGroup); len(b) != 0 && len(b) != min(room, whole+len(inner)) {
				t.Errorf("format %d, %d bytes: payload of %d", f, room, len(b))
			}
		}
		var p Packet
		p.OpenAs(f, make([]byte, 400))
		for _, r := range []Individual{{InType: Ethernet}, {InType: TLV, Own: &hop}, {InType: DSExtension, Own: &hop}, {InType: 6, Own: &hop}} {
			if p.Append(&r) {
				t.Errorf("format %d: %+v was taken", f, r)
			}
		}
		if b := p.Seal(oldGroup); b != nil || p.IsOpen() {
			t.Errorf("format %d: sealed %x without a report", f, b)
		}
	}
}

// A timestamp never comes out as "unknown".
func TestShortTime(t *testing.T) {
	for v, want := range map[uint64]uint32{0: 0, 0x1_ffff_fffe: 0xfffffffe, 0x1_ffff_ffff: 0xfffffffe, 0x2_0000_0000: 0} {
		if got := shortTime(v); got != want {
			t.Errorf("%x: %x, want %x", v, got, want)
		}
	}
}

// Cut at every byte, a report is an error or shorter, and never a panic.
func TestDecodeOldTruncated(t *testing.T) {
	for _, g := range goldenOld {
		wire := unhex(t, g.wire)
		header := len(wire) - len(unhex(t, g.inner))
		for n := range header {
			if m, err := plain.Decode(wire[:n]); err == nil && binary.BigEndian.Uint32(wire)>>28 == 1 {
				t.Errorf("%s: %d of %d bytes: %s", g.name, n, header, toJSON(t, m))
			} else if err != nil && !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrNotReport) {
				t.Errorf("%s: %d of %d bytes: %v", g.name, n, header, err)
			}
		}
	}
}
