package record

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"intsink/engine/event"
	"intsink/engine/inspect"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/engine/report/decode"
	"intsink/engine/report/reporttest"
)

// TestPathsAreTheSinks: records give a path the same id as the sink's /api/v1/paths, for hops
// of any layout.
func TestPathsAreTheSinks(t *testing.T) {
	port := uint16(5000)
	for _, c := range []struct{ name, words, bitmap, hops string }{
		{"level 1", "03", "e000", "00000002 00030004 00000001 00000001 00010002 00000001"},
		{"level 2", "05", "e200", "00000002 00030004 00000001 0000000b 0000000c 00000001 00010002 00000001 0000000d 0000000e"},
		{"one hop", "02", "c000", "ffff0001 fffe0000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := len(reporttest.Hex(t, c.hops)) / 4
			ip4 := udp4(t, 5000, fmt.Sprintf("14 %02x 0035", n+3)+md(c.words, c.bitmap, c.hops))
			frame := reporttest.Hex(t, etherHex+ip4)
			var l packet.Layers
			var i inthdr.Info
			var o inthdr.Outers
			p := inthdr.NewLocator(inthdr.Config{UDPPort: &port, Version2: true})
			if packet.Parse(frame, len(frame), &l) != packet.OK || p.Find(frame, &l, &i, &o) != inthdr.Sound {
				t.Fatal("the sink finds no INT")
			}
			var want inspect.Path
			want.Describe(&event.Observation{Frame: frame, Info: &i, Layout: p.Layout(&i)})
			var got uint64
			d := NewDecoder(Options{})
			if _, err := d.Records(reporttest.Hex(t, ip(t, ip4)), &testOrigin, func(r *Record) { got = r.Path }); err != nil || got != want.ID {
				t.Errorf("%v: path %016x, the sink's is %016x", err, got, want.ID)
			}
		})
	}
}

// TestAsDecodeReads compares records with what engine/report/decode, another parser, reads in
// the same packets: random instructions and hops, cut at random lengths.
func TestAsDecodeReads(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d, other := NewDecoder(Options{}), &decode.Decoder{INTPorts: []uint16{5000, 555}}
	var r Record
	hops := 0
	for range 20000 {
		bitmap := uint16(rng.Uint32()) & 0xff80
		words := int(inthdr.LayoutOf(bitmap, inthdr.Format2).HopLen) / 4
		n := rng.IntN(5)
		stack := make([]byte, n*words*4)
		for i := range stack {
			if stack[i] = byte(rng.Uint32()); rng.IntN(8) == 0 {
				copy(stack[i&^3:], []byte{0xff, 0xff, 0xff, 0xff})
			}
		}
		b := reporttest.Hex(t, fmt.Sprintf("14 %02x 0035 2000%02x06 %04x 0000 0000 0000", 3+n*words, words, bitmap))
		b = append(b, stack...)
		packet := reporttest.Hex(t, udp4(t, 5000, fmt.Sprintf("%x", b)))
		packet = packet[:28+rng.IntN(len(packet)-28+1)&^3]
		wire := append(reporttest.Hex(t, groupHex), 4, byte(len(packet)/4), 0, 0)
		wire = append(wire, packet...)
		if _, err := d.Records(wire, &testOrigin, func(x *Record) { r = *x }); err != nil {
			t.Fatalf("%v: %x", err, wire)
		}
		m, err := other.Decode(wire)
		if err != nil {
			t.Fatalf("%v: %x", err, wire)
		}
		hops += len(r.Hops)
		sameHops(t, wire, &r, m.Reports[0].Inner.INT)
	}
	if hops < 10000 {
		t.Errorf("only %d hops", hops)
	}
}

// sameHops compares the hops of a record with those of decode, which has the newest first.
func sameHops(t *testing.T, wire []byte, r *Record, s *decode.Stack) {
	t.Helper()
	if s == nil || len(s.Hops) != len(r.Hops) {
		if len(r.Hops) > 0 {
			t.Fatalf("%d hops: %x", len(r.Hops), wire)
		}
		return
	}
	for i := range r.Hops {
		h, v := &r.Hops[i], s.Hops[len(s.Hops)-1-i].Values
		for _, c := range []struct {
			name  string
			known HopKnown
			value uint64
		}{
			{"node_id", HopNode, uint64(h.NodeID)}, {"ingress_interface_id", HopIngress, uint64(h.Ingress)}, {"egress_interface_id", HopEgress, uint64(h.Egress)},
			{"level2_ingress_interface_id", HopIngress2, uint64(h.Ingress2)}, {"level2_egress_interface_id", HopEgress2, uint64(h.Egress2)},
			{"hop_latency", HopLatency, uint64(h.LatencyNs)}, {"queue_id", HopQueue, uint64(h.Queue)}, {"queue_occupancy", HopOccupancy, uint64(h.Occupancy)},
			{"ingress_timestamp", HopIngressTime, h.IngressTime}, {"egress_timestamp", HopEgressTime, h.EgressTime}, {"tx_utilization", HopTxUtilization, uint64(h.TxUtilization)},
		} {
			want, known := v.Get(c.name)
			if known && want>>63 == 1 { // after 2262: records have no such times
				known = false
			}
			if got := h.Known&c.known != 0; got != known || known && c.value != want {
				t.Fatalf("hop %d: %s is %d, %v; decode has %d, %v: %x", i, c.name, c.value, got, want, known, wire)
			}
		}
	}
}
