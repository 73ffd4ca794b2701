// Key of a stream, and the fields of a report packet's header that name its place there.

package streams

import (
	"net/netip"

	"intsink/exporters/record"
)

// Key identifies one sequence of report packets. The exporter's port is left out: a sink may
// vary it per flow, for load balancing.
type Key struct {
	Exporter  netip.Addr     `json:"exporter"`  // source address
	Collector netip.AddrPort `json:"collector"` // destination address
	Node      uint32         `json:"node_id"`   // 0 in version 0.5, where some reports only have one
	HwID      uint8          `json:"hw_id"`
	Version   uint8          `json:"version"` // 2 for 2.0, 1 for 1.0, 0 for 0.5
}

// Header has the fields of a report packet's header that give its place in a stream.
type Header struct {
	Node     uint32
	Sequence uint32
	HwID     uint8
	Version  uint8
}

// ReadHeader reads the header of a report packet. It returns false if payload is too short for
// one, or of an unknown version.
func ReadHeader(payload []byte) (h Header, ok bool) {
	r, err := record.ReadHeader(payload)
	if err != nil {
		return h, false
	}
	h = Header{Sequence: r.Sequence, HwID: r.HwID, Version: uint8(r.Version - record.Version05)}
	if r.Version != record.Version05 { // in 0.5 some report packets of a stream only have the node
		h.Node = r.NodeID
	}
	return h, true
}

// mask returns the highest sequence number of a version.
func mask(version uint8) uint64 {
	if version == 2 {
		return 1<<22 - 1
	}
	return 1<<32 - 1
}

// IsNumber reports whether an extended sequence number is one of a packet with header h: packets of a
// switch that does not number them are counted instead.
func IsNumber(h Header, extended uint64) bool {
	return extended&mask(h.Version) == uint64(h.Sequence)
}
