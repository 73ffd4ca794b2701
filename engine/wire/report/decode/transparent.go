// Reads individual reports of Transparent Security (CableLabs), which follow no
// specification: packet and drop reports.

package decode

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
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

// findTransparentSecurity returns which of these kinds the individual report b is, if any. A
// packet of IPv4 or IPv6 cannot be taken for one: RepMdBits stand where it has its version.
func findTransparentSecurity(b []byte) TransparentSecurity {
	if len(b) < tsPacketAt+packet.EthernetLen || report.RepType(b[0]>>4) != report.InnerOnly ||
		binary.BigEndian.Uint16(b[firstWordLen+2:]) != report.TransparentSecurityID {
		return NotTransparentSecurity
	}
	bits := binary.BigEndian.Uint16(b[firstWordLen:])
	if report.InType(b[0]&0xf) == report.DSExtension && bits == report.MdDropReason && len(b) >= tsDropLen && binary.BigEndian.Uint32(b[firstWordLen+4:]) == 0 {
		return TransparentSecurityDrop
	}
	frame := b[tsPacketAt:]
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

// CorrectTransparentSecurity makes the frame of a TransparentSecurityPacket, in place,
// one by INT 2.1: the shim's Length without the shim, UDP behind IPv6 where it is UDP.
func CorrectTransparentSecurity(frame []byte) {
	at := packet.EthernetLen
	switch binary.BigEndian.Uint16(frame[packet.EthernetLen-2:]) {
	case packet.EtherTypeIPv4:
		at += packet.IPv4Len
		if len(frame) < at || frame[packet.EthernetLen] != 0x45 {
			return
		}
	case packet.EtherTypeIPv6:
		at += packet.IPv6Len
		if len(frame) < at {
			return
		}
	}
	const header = 12
	shim := at + packet.UDPLen
	if len(frame) < shim+inthdr.ShimLen+header || frame[shim] != 0x18 || frame[shim+inthdr.ShimLen]>>4 != 2 ||
		binary.BigEndian.Uint16(frame[shim+inthdr.ShimLen+6:]) != report.TransparentSecurityID {
		return
	}
	if at == packet.EthernetLen+packet.IPv6Len && frame[packet.EthernetLen+6] == packet.ProtoTCP {
		frame[packet.EthernetLen+6] = packet.ProtoUDP
	}
	if lengthCountsShim(frame, shim) {
		frame[shim+1]--
	}
}

// lengthCountsShim reports whether the Length of the shim at that place counts the shim: it does,
// but where the UDP header behind INT fits the other reading alone.
func lengthCountsShim(frame []byte, shim int) bool {
	without := shim + inthdr.ShimLen + int(frame[shim+1])*4
	if frame[shim+3] != packet.ProtoUDP {
		return true
	}
	end := shim - packet.UDPLen + int(binary.BigEndian.Uint16(frame[shim-packet.UDPLen+4:]))
	fits := func(at int) bool {
		return at+6 <= len(frame) && at+int(binary.BigEndian.Uint16(frame[at+4:])) == end
	}
	return !fits(without) || fits(without-inthdr.ShimLen)
}

// transparentSecurity reads b, a report of that kind, up to the end of the payload: Inner is the frame, or what Drop
// reads.
func (r *Report) transparentSecurity(b []byte) {
	r.setMain(b[firstWordLen:])
	r.Problem, r.Inner = NoProblem, b[tsPacketAt:]
	if r.TransparentSecurity == TransparentSecurityPacket {
		r.InType, r.DSMetadata = report.Ethernet, b[tsPacketAt-4:tsPacketAt]
	}
}

// Drop returns what a TransparentSecurityDrop says: the controller's time in seconds, a number of packets, and the key of
// the rule that dropped them.
func (r *Report) Drop() (seconds, count uint32, key []byte) {
	b := r.Inner
	return binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), b[8 : tsDropLen-tsPacketAt]
}
