// Reads individual reports of Transparent Security (CableLabs), which follow no
// specification: packet and drop reports.

package decode

import (
	"encoding/binary"
	"time"

	"intsink/engine/packet"
	"intsink/engine/report"
)

// TransparentSecurity is a kind of individual report that the code of that project (CableLabs,
// transparent-security) writes. Both kinds differ from the profile and from the specification,
// and each is the only report of its packet.
type TransparentSecurity uint8

const (
	NotTransparentSecurity TransparentSecurity = iota
	// TransparentSecurityPacket has RepType 0 in spite of main contents, lengths that
	// do not add up, an InType of IP in front of a whole Ethernet frame, and in that frame
	// an INT shim whose Length counts the shim. Over IPv6 with TCP the IPv6 header of that
	// frame says TCP in front of the UDP header of INT.
	TransparentSecurityPacket
	// TransparentSecurityDrop has RepType 0 and InType 2 in spite of main contents:
	// behind them a drop reason, a time in seconds, a number of packets and a key.
	TransparentSecurityDrop
)

// Places in the individual report: behind the first word and the main contents there
// is a word of metadata.
const (
	tsPacketAt = firstWordLen + intMainLen + 4
	tsDropLen  = tsPacketAt + 4 + 4 + 16
)

// FindTransparentSecurity returns which of these kinds the individual report b is, if any. A
// packet of IPv4 or IPv6 cannot be taken for one: RepMdBits stand where it has its version.
func FindTransparentSecurity(b []byte) TransparentSecurity {
	if len(b) < tsPacketAt+packet.EthernetLen || report.RepType(b[0]>>4) != report.InnerOnly ||
		binary.BigEndian.Uint16(b[firstWordLen+2:]) != report.TransparentSecurityID {
		return NotTransparentSecurity
	}
	bits := binary.BigEndian.Uint16(b[firstWordLen:])
	if report.InType(b[0]&0xf) == report.DSExtension && bits == report.MdDropReason && len(b) >= tsDropLen && binary.BigEndian.Uint32(b[firstWordLen+4:]) == 0 {
		return TransparentSecurityDrop
	}
	frame := TransparentSecurityFrame(b)
	if v := bits >> 12; v == 4 || v == 6 || binary.BigEndian.Uint32(b[tsPacketAt-4:]) != 0 {
		return NotTransparentSecurity
	}
	version := byte(4)
	switch binary.BigEndian.Uint16(frame[packet.EthernetLen-2:]) {
	case packet.EtherTypeIPv4:
	case packet.EtherTypeIPv6:
		version = 6
	default:
		return NotTransparentSecurity
	}
	if len(frame) > packet.EthernetLen && frame[packet.EthernetLen]>>4 != version {
		return NotTransparentSecurity
	}
	return TransparentSecurityPacket
}

// TransparentSecurityFrame returns the frame in a TransparentSecurityPacket.
func TransparentSecurityFrame(b []byte) []byte { return b[tsPacketAt:] }

// CorrectTransparentSecurity makes the frame of a TransparentSecurityPacket, in place,
// one by INT 2.1: the shim's Length without the shim, UDP behind IPv6 where it is UDP. It
// tells whether the shim's Length was changed.
func CorrectTransparentSecurity(frame []byte) (shorter bool) {
	at := packet.EthernetLen
	switch binary.BigEndian.Uint16(frame[packet.EthernetLen-2:]) {
	case packet.EtherTypeIPv4:
		at += packet.IPv4Len
		if len(frame) < at || frame[packet.EthernetLen] != 0x45 {
			return false
		}
	case packet.EtherTypeIPv6:
		at += packet.IPv6Len
		if len(frame) < at {
			return false
		}
	}
	const header = 12
	shim := at + packet.UDPLen
	if len(frame) < shim+shimLen+header || frame[shim] != 0x18 || frame[shim+shimLen]>>4 != 2 ||
		binary.BigEndian.Uint16(frame[shim+shimLen+6:]) != report.TransparentSecurityID {
		return false
	}
	if at == packet.EthernetLen+packet.IPv6Len && frame[packet.EthernetLen+6] == packet.ProtoTCP {
		frame[packet.EthernetLen+6] = packet.ProtoUDP
	}
	if shorter = lengthCountsShim(frame, shim); shorter {
		frame[shim+1]--
	}
	return shorter
}

// lengthCountsShim reports whether the Length of the shim at that place counts the shim: it does,
// but where the UDP header behind INT fits the other reading alone.
func lengthCountsShim(frame []byte, shim int) bool {
	without := shim + shimLen + int(frame[shim+1])*4
	if frame[shim+3] != packet.ProtoUDP {
		return true
	}
	end := shim - packet.UDPLen + int(binary.BigEndian.Uint16(frame[shim-packet.UDPLen+4:]))
	fits := func(at int) bool {
		return at+6 <= len(frame) && at+int(binary.BigEndian.Uint16(frame[at+4:])) == end
	}
	return !fits(without) || fits(without-shimLen)
}

// TransparentSecurityDropped holds the fields of a TransparentSecurityDrop.
type TransparentSecurityDropped struct {
	Time  time.Time `json:"time"`       // of the controller, in whole seconds
	Count uint32    `json:"drop_count"` // packets
	Key   Hex       `json:"drop_key"`   // of the rule that dropped them
}

// ReadTransparentSecurityDrop reads individual report b of that kind: its time in seconds
// and its number of packets.
func ReadTransparentSecurityDrop(b []byte) (seconds, count uint32) {
	return binary.BigEndian.Uint32(b[tsPacketAt:]), binary.BigEndian.Uint32(b[tsPacketAt+4:])
}

// decodeTransparentSecurity decodes b, an individual report of that kind, up to the
// end of the payload.
func (d *Decoder) decodeTransparentSecurity(kind TransparentSecurity, r *Report, b []byte) {
	r.setMain(b[firstWordLen:])
	if kind == TransparentSecurityDrop {
		r.Metadata, _ = repBits.read(*r.RepMdBits, b[tsPacketAt-4:tsPacketAt])
		seconds, count := ReadTransparentSecurityDrop(b)
		r.TransparentSecurity = &TransparentSecurityDropped{time.Unix(int64(seconds), 0).UTC(), count, clone(b[tsPacketAt+8 : tsDropLen])}
		r.Inner = Inner{Type: inTypes[report.DSExtension], Length: len(b) - tsPacketAt, Data: clone(b[tsPacketAt:])}
		return
	}
	r.DSMetadata = clone(b[tsPacketAt-4 : tsPacketAt])
	frame := append([]byte(nil), TransparentSecurityFrame(b)...)
	shorter := CorrectTransparentSecurity(frame)
	r.Inner = Inner{Type: inTypes[report.Ethernet], Length: len(frame)}
	corrected := *d
	corrected.ShimInclusive = false
	r.Inner.Flow, r.Inner.INT = corrected.dissect(report.Ethernet, frame)
	if s := r.Inner.INT; s != nil && shorter {
		s.ShimLength++ // as it stands in the report
	}
}
