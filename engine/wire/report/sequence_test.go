package report

import (
	"encoding/binary"
	"testing"
)

// TestSequenceWraps: the sequence number has 22 bits, and what is above goes nowhere.
func TestSequenceWraps(t *testing.T) {
	for sequence, want := range map[uint32]uint32{
		0: 0, 1: 1, 0x200000: 0x200000, 0x3fffff: 0x3fffff, 0x400000: 0, 0x400001: 1, 0x7fffff: 0x3fffff, 0x800002: 2, 1<<32 - 1: 0x3fffff,
	} {
		for _, hw := range []uint8{0, 5, 63} {
			var p Packet
			p.Open(make([]byte, 64))
			b := p.Seal(GroupHeader{HwID: hw, Sequence: sequence, NodeID: 9})
			if got := binary.BigEndian.Uint32(b); got != 2<<28|uint32(hw)<<22|want {
				t.Errorf("hw_id %d, sequence %#x: %#x, want hw_id %d and %#x", hw, sequence, got, hw, want)
			}
		}
	}
}
