// Key of a stream, and the header of a report packet that its number stands in.

package streams

import (
	"encoding/binary"
	"net/netip"
)

// Key names one sequence of report packets. The exporter's port is left out: a sink may
// vary it per flow, for load balancing.
type Key struct {
	Exporter  netip.Addr     `json:"exporter"`  // source address
	Collector netip.AddrPort `json:"collector"` // destination address
	Node      uint32         `json:"node_id"`   // 0 in version 0.5, which has it in some reports only
	HwID      uint8          `json:"hw_id"`
	Version   uint8          `json:"version"` // 2 for 2.0, 1 for 1.0, 0 for 0.5
}

// Header is the part of a report packet that gives its place in a stream.
type Header struct {
	Node     uint32
	Sequence uint32
	HwID     uint8
	Version  uint8
}

// ReadHeader reads the first words of a report packet. It returns false where payload is
// too short for one, or of an unknown version.
func ReadHeader(payload []byte) (h Header, ok bool) {
	if len(payload) < 8 {
		return h, false
	}
	first, second := binary.BigEndian.Uint32(payload), binary.BigEndian.Uint32(payload[4:])
	h.Version = uint8(first >> 28)
	switch h.Version {
	case 2: // Telemetry Report 2.0, 3.1: Ver 4b, hw_id 6b, sequence 22b, node id 32b
		h.HwID, h.Sequence, h.Node = uint8(first>>22&0x3f), first&0x3fffff, second
	case 1: // 1.0, 4: ... hw_id 6b; switch id 32b; sequence 32b
		if len(payload) < 12 {
			return h, false
		}
		h.HwID, h.Node, h.Sequence = uint8(first&0x3f), second, binary.BigEndian.Uint32(payload[8:])
	case 0: // 0.5, 3: ... hw_id 6b; sequence 32b
		h.HwID, h.Sequence = uint8(first&0x3f), second
	default:
		return h, false
	}
	return h, true
}

// mask is the highest sequence number of a version.
func mask(version uint8) uint64 {
	if version == 2 {
		return 1<<22 - 1
	}
	return 1<<32 - 1
}
