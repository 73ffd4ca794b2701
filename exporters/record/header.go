// ReadHeader: reads and checks the header of a report packet of any version: node, hw_id and
// sequence number, for records and for streams.

package record

import (
	"encoding/binary"

	"intsink/engine/report/decode"
)

// Header holds the fields of a report packet that package streams needs to find packets that
// are missing. Values are as on the wire.
type Header struct {
	Version      Version
	HasNode      bool // NodeID is known; a packet of 0.5 has it in a drop or switch local header only
	NodeID       uint32
	HwID         uint8
	Sequence     uint32
	SequenceBits uint8 // width of Sequence
}

// ReadHeader reads the header of a report packet, the payload of a UDP datagram. It returns
// decode.ErrNotReport or decode.ErrTruncated, not wrapped.
func ReadHeader(packet []byte) (h Header, err error) {
	if len(packet) < 4 {
		return h, decode.ErrNotReport
	}
	first := binary.BigEndian.Uint32(packet)
	switch first >> 28 {
	case 2:
		if len(packet) < group20Len {
			return h, decode.ErrTruncated
		}
		return Header{Version20, true, binary.BigEndian.Uint32(packet[4:]), uint8(first >> 22 & 0x3f), first & (1<<22 - 1), 22}, nil
	case 1:
		if len(packet) < header10Len {
			return h, decode.ErrTruncated
		}
		if first>>24&0xf < header10Len/4 {
			return h, decode.ErrNotReport
		}
		return Header{Version10, true, binary.BigEndian.Uint32(packet[4:]), uint8(first & 0x3f), binary.BigEndian.Uint32(packet[8:]), 32}, nil
	case 0:
		next := first >> 24 & 0xf
		if next > nextSwitchLocal {
			return h, decode.ErrNotReport
		}
		if len(packet) < header05Len+localLen[next] {
			return h, decode.ErrTruncated
		}
		h = Header{Version: Version05, HasNode: next != nextEthernet, HwID: uint8(first & 0x3f), Sequence: binary.BigEndian.Uint32(packet[4:]), SequenceBits: 32}
		if h.HasNode {
			h.NodeID = binary.BigEndian.Uint32(packet[header05Len:])
		}
		return h, nil
	}
	return h, decode.ErrNotReport
}

// Lengths of headers in bytes.
const (
	group20Len  = 8
	header10Len = 16 // without metadata
	header05Len = 12

	individualLen = 4 // first word of an individual report
	mainLen       = 8 // RepMdBits, Domain Specific ID, DSMdBits, DSMdstatus
	tlvLen        = 4
)

// Values of NProto in 0.5, and the lengths of the headers that they announce.
const (
	nextEthernet = iota
	nextDrop
	nextSwitchLocal
)

var localLen = [...]int{nextEthernet: 0, nextDrop: 12, nextSwitchLocal: 16}
