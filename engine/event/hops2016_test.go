package event

import (
	"testing"

	"intsink/engine/wire/inthdr"
)

// TestNodesOfEveryFormat: in the June 2016 format the top bit of a node id marks the bottom of the stack;
// in others it is part of the id. A hop that was passed is found by its id, another is not.
func TestNodesOfEveryFormat(t *testing.T) {
	const bottom = 1 << 31
	word := func(id uint32) uint32 { return id<<24 | id>>8&0xff<<16 | id>>16&0xff<<8 | id>>24 } // as flows keep it
	for _, c := range []struct {
		name        string
		format      inthdr.Format
		stack       uint32
		passed, not uint32
	}{
		{"2.1, low", inthdr.Format2, 102, 102, 102 | bottom},
		{"2.1, high", inthdr.Format2, 102 | bottom, 102 | bottom, 102},
		{"1.0, high", inthdr.Format1, 102 | bottom, 102 | bottom, 102},
		{"June 2016, not the bottom", inthdr.Format2016, 102, 102, 103},
		{"June 2016, the bottom", inthdr.Format2016, 102 | bottom, 102, 102 | bottom},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := timed(c.format, stamped{node: 7}, stamped{node: c.stack})
			if !passed(o, word(c.passed)) || passed(o, word(c.not)) || !passed(o, word(7)) || passed(o, word(8)) {
				t.Errorf("node %#x in the stack: passed %#x %v, passed %#x %v", c.stack, c.passed, passed(o, word(c.passed)), c.not, passed(o, word(c.not)))
			}
		})
	}
}

// TestReadHop2016: every value of a hop, in 31 bits, each port on its own; those that are all ones
// and those that the bitmap does not ask for are unknown.
func TestReadHop2016(t *testing.T) {
	all := uint16(inthdr.BitNodeID | inthdr.BitLevel1Interfaces | inthdr.BitHopLatency | inthdr.BitQueue | inthdr.BitEgressTimestamp)
	empty := inthdr.LayoutOf(0, inthdr.Format2016)
	with := func(set func(h *inthdr.Hop)) (h inthdr.Hop) {
		empty.Read(&h, nil)
		set(&h)
		return h
	}
	hop := []byte{0x80, 0, 0, 102, 0, 0, 0, 3, 0x80, 0, 1, 0, 0, 0, 2, 5, 0x80, 0, 0, 9}
	for _, c := range []struct {
		name   string
		bitmap uint16
		hop    []byte
		want   inthdr.Hop
	}{
		{"all", all, hop, with(func(h *inthdr.Hop) { h.NodeID, h.Ingress, h.Egress, h.Latency, h.Occupancy = 102, 3, 9, 256, 0x205 })},
		{"node and latency", inthdr.BitNodeID | inthdr.BitHopLatency, hop[:8], with(func(h *inthdr.Hop) { h.NodeID, h.Latency = 102, 3 })},
		{"latency alone", inthdr.BitHopLatency, hop[:4], with(func(h *inthdr.Hop) { h.Latency = 102 })},
		{"a port that packets enter by, without the other", inthdr.BitNodeID | inthdr.BitLevel1Interfaces, hop[4:12], with(func(h *inthdr.Hop) { h.NodeID, h.Ingress = 3, 0x100 })},
		{"all ones", inthdr.BitNodeID | inthdr.BitHopLatency, []byte{0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff}, with(func(*inthdr.Hop) {})},
	} {
		t.Run(c.name, func(t *testing.T) {
			layout := inthdr.LayoutOf(c.bitmap, inthdr.Format2016)
			var got hopValues
			if readHop(&got, c.hop, &layout); got.stampBits != 31 || got.Hop != c.want {
				t.Errorf("%+v\nwant %+v, timestamps of 31 bits", got, c.want)
			}
		})
	}
}
