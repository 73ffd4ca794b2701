package event

import (
	"testing"

	"intsink/engine/inthdr"
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
		{"node", inthdr.BitNodeID, func(n *hopValues) { n.id = word }},
		{"interfaces", inthdr.BitLevel1Interfaces, func(n *hopValues) { n.interfaces = word }},
		{"latency", inthdr.BitHopLatency, func(n *hopValues) { n.latency = word }},
		{"queue", inthdr.BitQueue, func(n *hopValues) { n.queue = word }},
		{"ingress timestamp", inthdr.BitIngressTimestamp, func(n *hopValues) { n.ingress = long }},
		{"egress timestamp", inthdr.BitEgressTimestamp, func(n *hopValues) { n.egress = long }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := hopValues{id: unknown32, interfaces: unknown32, latency: unknown32, queue: unknown32, tx: unknown32, ingress: unknown64, egress: unknown64, stampBits: 64, model: &asIs}
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
	f := modelled(t, defaults(HopLatency), model)
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
			n := hopValues{id: c.node, latency: c.latency, stampBits: c.bits}
			if f.d.models.apply(&n); n.latency != c.want || n.stampBits != c.wantBits {
				t.Errorf("latency %d, %d bits; want %d, %d", n.latency, n.stampBits, c.want, c.wantBits)
			}
		})
	}
}
