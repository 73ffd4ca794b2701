package inthdr

import (
	"encoding/binary"

	"intsink/engine/packet"
)

const udpLen = 8

// original checks what NPT 2 would leave: a UDP header must be as long as the rest of
// the packet, a TCP header must fit it. A wrong end of INT, such as that of a source
// whose shim Length counts the shim, shows itself here before a host gets a packet
// without ports. The original goes on at offset at of b, with IP protocol proto, and
// ends at end. Of a fragment the UDP length says nothing.
func original(b []byte, at, end int, proto uint16, fragment bool) Result {
	least := 0
	switch proto {
	case packet.ProtoUDP:
		least = udpLen
	case packet.ProtoTCP:
		least = packet.TCPLen
	default:
		return Sound
	}
	left := end - at
	if left < least {
		return Unsound
	}
	if len(b) < at+least {
		return NeedMore
	}
	h := b[at:][:least]
	if proto == packet.ProtoUDP {
		if !fragment && int(binary.BigEndian.Uint16(h[4:])) != left {
			return Unsound
		}
		return Sound
	}
	if offset := int(h[12]>>4) * 4; offset < packet.TCPLen || offset > left {
		return Unsound
	}
	return Sound
}

// checkOriginal is original for the packet that l describes.
func (i *Info) checkOriginal(b []byte, l *packet.Layers) Result {
	r := original(b, int(i.End), int(l.End), i.Orig, l.Fragment != packet.NotFragment)
	if r == Unsound {
		i.Reason = ReasonOriginal
	}
	return r
}
