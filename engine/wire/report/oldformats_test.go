package report

import (
	"bytes"
	"testing"

	"intsink/engine/wire/report/reporttest"
)

var (
	hop = Metadata{
		IngressPort: 1, EgressPort: 2, HopLatencyNs: 100, QueueID: 3, QueueOccupancy: 0x44,
		IngressTimestamp: 0x1_0000_03e8, EgressTimestamp: 0x2_0000_07d0, TxUtilization: 50, DropReason: 60,
	}
	oldGroup = GroupHeader{HwID: 5, Sequence: 0x01000064, NodeID: 9}
)

// goldenOld are written by hand from the documents: Telemetry Report 1.0,
// section 3.2, the proposal of January 2018, and 0.5, sections 3.2.1 to 3.2.3.
var goldenOld = []struct {
	name, file string
	format     Format
	r          Individual
	inner      string
}{
	{
		"1.0: Ethernet, nothing of its own", "1.0_ethernet", Format10,
		Individual{InType: Ethernet, TrackedFlow: true}, etherHex + reporttest.IPv4TCPHex,
	},
	{
		"1.0: IPv4 with INT, ports, latency and egress timestamp", "1.0_int", Format10,
		// Length 7, NProt 1, RepMdBits 110100.
		Individual{InType: IPv4, TrackedFlow: true, RepMdBits: MdInterfaces | MdHopLatency | MdIngressTimestamp | MdEgressTimestamp}, reporttest.INTTCPHex,
	},
	{
		"1.0: every bit", "1.0_every_bit", Format10,
		Individual{InType: IPv4, Dropped: true, CongestedQueue: true, RepMdBits: 0xffff}, reporttest.IPv4TCPHex,
	},
	{
		"the proposal of 2018: every bit; it has no latency and no utilization", "1.0_of_2018", Format2018,
		Individual{InType: IPv4, Dropped: true, CongestedQueue: true, RepMdBits: 0xffff}, reporttest.IPv4TCPHex,
	},
	{
		"0.5: Ethernet, nothing of its own", "0.5_ethernet", Format05,
		Individual{InType: Ethernet, TrackedFlow: true, RepMdBits: MdIngressTimestamp}, etherHex + reporttest.IPv4TCPHex,
	},
	{
		"0.5: switch local", "0.5_switch_local", Format05,
		Individual{InType: Ethernet, TrackedFlow: true, RepMdBits: MdInterfaces | MdQueue | MdEgressTimestamp}, etherHex + reporttest.IPv4TCPHex,
	},
	{
		"0.5: switch local without a queue, hop latency as the difference of the timestamps", "0.5_no_queue", Format05,
		Individual{InType: Ethernet, TrackedFlow: true, RepMdBits: MdHopLatency}, etherHex + reporttest.IPv4TCPHex,
	},
	{
		"0.5: drop", "0.5_drop", Format05,
		Individual{InType: Ethernet, Dropped: true, RepMdBits: MdInterfaces | MdDropReason}, etherHex + reporttest.IPv4TCPHex,
	},
	{
		"0.5: headers of IP get an Ethernet header", "0.5_ip", Format05,
		Individual{InType: IPv4, TrackedFlow: true}, reporttest.IPv4TCPHex,
	},
}

func TestGoldenOld(t *testing.T) {
	for _, g := range goldenOld {
		t.Run(g.name, func(t *testing.T) {
			want := reporttest.Wire(t, g.file)
			g.r.Own, g.r.Inner = &hop, reporttest.Hex(t, g.inner)
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
		})
	}
}

// The packet is cut to the room; a header never is.
func TestOldIsCut(t *testing.T) {
	inner := reporttest.Hex(t, etherHex+reporttest.IPv4TCPHex)
	for _, f := range []Format{Format10, Format05, Format2018} {
		whole := map[Format]int{Format10: 16 + 4, Format05: 12 + 16, Format2018: 16 + 4}[f]
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
