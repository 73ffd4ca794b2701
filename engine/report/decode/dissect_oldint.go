// Dissects INT 1.0 and June 2016 in a reported packet.

package decode

import (
	"encoding/binary"
	"fmt"
)

// versions is a set of versions of the INT header.
type versions uint8

const (
	only2 versions = 1 << iota
	only1
	only2016

	anyVersion = only2 | only1 | only2016
)

// has reports whether v has one of the versions of o.
func (v versions) has(o versions) bool { return v&o != 0 }

// bodyInTunnel is body, and reads the headers of eight bytes of INT 1.0 (section 4.7)
// and June 2016 (section 5.3.3) too: tunnels carry all three in the same place. allowed are
// those that the shim and the protocol in front of it name.
func (x *dissector) bodyInTunnel(t, words uint8, allowed versions) *Stack {
	if t == 2 || allowed.has(only2) {
		if s := x.body(t, words); s != nil {
			return s
		}
	}
	size, b := int(words)*4, x.rest
	if t != 1 || size < oldHeaderLen || len(b) < oldHeaderLen {
		return nil
	}
	s := &Stack{Type: shimTypes[1], ShimLength: words, Truncated: size > len(b)}
	b = b[:min(size, len(b))]
	switch version := b[0] >> 4; {
	case version == 2 && allowed.has(only2): // without room for its header
		return nil
	case version == 1 && allowed.has(only1):
		s.old(x.Decoder, b)
	case version < 4 && allowed.has(only2016) && size == oldHeaderLen+int(b[1]&0x1f)*int(b[3])*4:
		s.first(b)
	case version == 1 || version == 2: // the sink does not take this for INT: its reason version
		s.Version, s.Source = &version, clone(b)
		s.Problem = fmt.Sprintf("a header with Ver %d does not belong behind this shim", version)
	default:
		return nil
	}
	x.rest = x.rest[len(b):]
	return s
}

// old reads INT 1.0 in b: its header, and the stack as far as it is not cut off.
func (s *Stack) old(d *Decoder, b []byte) {
	s.Version = ref(b[0] >> 4)
	s.Discard = b[0]&0x02 != 0 // C: a copy
	s.HopExceeded, s.MTUExceeded = ref(b[0]&0x01 != 0), ref(b[1]&0x80 != 0)
	s.HopML, s.Remaining = ref(b[2]&0x1f), ref(b[3])
	s.InstructionBitmap = ref(binary.BigEndian.Uint16(b[4:]))
	s.oldHops(d.oldLayouts(), b[oldHeaderLen:])
}

// oldLayouts returns the ways in which a hop of INT 1.0 was written: as the document has it; with
// level 2 interfaces of 16 bits; with timestamps of 64 bits, as GEANT's int_v1.0 has. Two of them
// can be equally long: the first one counts.
func (d *Decoder) oldLayouts() []bitmap {
	narrow, long := oldHopBits, oldHopBits
	narrow[6] = []part{{"level2_ingress_interface_id", 16}, {"level2_egress_interface_id", 16}}
	long[4], long[5], long[6] = wide("ingress_timestamp"), wide("egress_timestamp"), narrow[6]
	if d.GEANT {
		return []bitmap{long, oldHopBits, narrow}
	}
	return []bitmap{oldHopBits, narrow, long}
}

// oldHops divides b, the stack or the part of it that is not cut off, into hops by the first
// layout that is as long as Hop ML says: INT 1.0 has nothing else in a hop.
func (s *Stack) oldHops(layouts []bitmap, b []byte) {
	hop := int(*s.HopML) * 4
	for i := range layouts {
		if layouts[i].size(*s.InstructionBitmap) == hop {
			s.hops(&layouts[i], *s.InstructionBitmap, b, hop)
			if left := len(b) - hop*len(s.Hops); left > 0 && !s.Truncated {
				s.Problem, s.Hops, s.Source = fmt.Sprintf("a stack of %d words is not whole hops of %d", len(b)/4, hop/4), nil, clone(b)
			}
			return
		}
	}
	if len(b) > 0 {
		s.Problem = fmt.Sprintf("the Instruction Bitmap asks for %d words a hop, Hop ML is %d", layouts[0].size(*s.InstructionBitmap)/4, hop/4)
		s.Source = clone(b)
	}
}

// firstHopBits are the bits of June 2016, a word each.
var firstHopBits = bitmap{
	word("node_id"), word("ingress_interface_id"), word("hop_latency"), word("queue_occupancy"),
	word("ingress_timestamp"), word("egress_interface_id"), word("queue_congestion_status"), word("tx_utilization"),
	word("reserved_8"), word("reserved_9"), word("reserved_10"), word("reserved_11"),
	word("reserved_12"), word("reserved_13"), word("reserved_14"), word("reserved_15"),
}

// first reads the format of June 2016. The top bit of a value marks the bottom of
// the stack; all other bits set mean that there is none.
func (s *Stack) first(b []byte) {
	s.Version = ref(b[0] >> 6)
	s.Discard, s.HopExceeded = b[0]&0x08 != 0, ref(b[0]&0x04 != 0) // C: a copy
	s.HopML, s.Remaining = ref(b[1]&0x1f), ref(b[2]-b[3])
	s.InstructionBitmap = ref(binary.BigEndian.Uint16(b[4:]))
	s.oldHops([]bitmap{firstHopBits}, b[oldHeaderLen:])
	for _, h := range s.Hops {
		for i := range h.Values {
			v := &h.Values[i]
			v.Number &= 1<<31 - 1
			v.Null = v.Number == 1<<31-1
		}
	}
}
