package event

import (
	"math/rand/v2"
	"testing"

	"intsink/engine/wire/inthdr"
)

// TestReadHopOfOneValue: a hop that carries one value alone, so that it stands at offset 0, gives
// that value, and all others are unknown.
func TestReadHopOfOneValue(t *testing.T) {
	hop := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	const word, long = 0x01020304, 0x0102030405060708
	for _, c := range []struct {
		name   string
		bitmap uint16
		set    func(n *hopValues)
	}{
		{"node", inthdr.BitNodeID, func(n *hopValues) { n.NodeID = word }},
		{"interfaces", inthdr.BitLevel1Interfaces, func(n *hopValues) { n.Ingress, n.Egress = 0x0102, 0x0304 }},
		{"latency", inthdr.BitHopLatency, func(n *hopValues) { n.Latency = word }},
		{"buffer", inthdr.BitBuffer, func(n *hopValues) {
			n.Queue, n.Occupancy, n.rest.Buffer, n.rest.BufferOccupancy = 1, 0x020304, 1, 0x020304
		}},
		{"queue", inthdr.BitQueue, func(n *hopValues) { n.Queue, n.Occupancy = 1, 0x020304 }},
		{"ingress timestamp", inthdr.BitIngressTimestamp, func(n *hopValues) { n.IngressTime = long }},
		{"egress timestamp", inthdr.BitEgressTimestamp, func(n *hopValues) { n.EgressTime = long }},
	} {
		t.Run(c.name, func(t *testing.T) {
			nothing, want := inthdr.LayoutOf(0, inthdr.Format2), hopValues{rest: nothingElse, stampBits: 64, model: &asIs}
			nothing.Read(&want.Hop, nil)
			c.set(&want)
			var got hopValues
			layout := inthdr.LayoutOf(c.bitmap, inthdr.Format2)
			if readHop(&got, hop, &layout); got != want {
				t.Errorf("%+v\nwant %+v", got, want)
			}
		})
	}
}

// TestModelOfAHop: a known latency is in the unit of the node's model, below what says unknown; an
// unknown one stays so; timestamps are as wide as both the format and the model say.
func TestModelOfAHop(t *testing.T) {
	model := NodeModel{LatencyUnit: 1000, TimestampBits: 48, QueueUnit: 1, TimestampUnit: 1}
	model.Nodes = only(102, 102)
	f, everything := modelled(t, defaults(HopLatency), model), inthdr.LayoutOf(full, inthdr.Format2)
	for _, c := range []struct {
		name                string
		node, latency, want uint32
		bits, wantBits      uint8
	}{
		{"known", 102, 25, 25_000, 64, 48},
		{"too long", 102, unknown32 - 1, unknown32 - 1, 64, 48},
		{"unknown", 102, unknown32, unknown32, 64, 48},
		{"narrow timestamps", 102, 25, 25_000, 32, 32},
		{"another node", 103, 25, 25, 32, 32},
		{"another node, unknown", 103, unknown32, unknown32, 32, 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := hopValues{Hop: inthdr.Hop{NodeID: c.node, Latency: c.latency}, stampBits: c.bits}
			if f.d.models.apply(&n, &everything); n.Latency != c.want || n.stampBits != c.wantBits {
				t.Errorf("latency %d, %d bits; want %d, %d", n.Latency, n.stampBits, c.want, c.wantBits)
			}
		})
	}
}

// TestReadQueue: what congestion asks of a hop is what readHop says, whatever the bitmap, the format, the model and the values.
func TestReadQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, models := range [][]NodeModel{nil, {{LatencyUnit: 3, QueueUnit: 80, TimestampUnit: 1, TimestampBits: 64}}} {
		d := New([]Policy{watching(Congestion)}, 1)
		d.SetRules([]Policy{watching(Congestion)}, models)
		for bitmap := 0; bitmap < 1<<16; bitmap += 1 << 6 { // bits 0 to 9
			for _, format := range []inthdr.Format{inthdr.Format2, inthdr.Format1, inthdr.Format2016, inthdr.FormatGEANT} {
				l, hop := inthdr.LayoutOf(uint16(bitmap), format), make([]byte, 64)
				for i := range hop {
					hop[i] = byte(r.IntN(256)) | byte(r.IntN(2)*0xff)
				}
				var got, want hopValues
				d.readQueue(&got, hop, &l)
				d.readHop(&want, hop, &l)
				if got.queueKey() != want.queueKey() || got.Egress != want.Egress || got.Latency != want.Latency || got.Occupancy != want.Occupancy || got.rest != want.rest {
					t.Fatalf("bitmap %#x, format %v, %x: %+v, want %+v", bitmap, format, hop, got, want)
				}
			}
		}
		d.Close()
	}
}
