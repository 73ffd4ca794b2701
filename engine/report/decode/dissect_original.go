// Checks and reads the transport header that NPT 2 restores in a reported packet: where it does
// not fit the packet, INT ends elsewhere.

package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"intsink/engine/packet"
)

// restored reads what is behind INT s, whose NPT is 2: the header of protocol proto and INT behind
// that. If it does not fit, the Length of the shim is wrong, and s has no hops that could be
// believed. Where the UDP length is wrong itself, nothing is known of the end: some sources do not add
// INT to it. in begins with the shim; start bytes of the packet were there behind its UDP header.
func (x *dissector) restored(s *Stack, in []byte, proto uint8, start int) {
	left := x.datagram - (start - len(x.rest))
	problem := ""
	if x.agree || x.fragment {
		problem = misfit(proto, x.rest, left, x.fragment)
	}
	if problem == "" {
		s.Next = x.transport(proto)
		return
	}
	s.Problem, s.Hops = problem+"; see shim_length and --config", nil
	if s.Version != nil {
		s.Source = clone(in[shimLen+intHeaderLen : len(in)-len(x.rest)])
	}
}

// misfit says what is wrong with the header of protocol proto at the start of b, behind which
// the packet ends after left bytes; "" if nothing is, or if b is cut in front of what tells.
// The UDP length of a fragment is that of the whole datagram.
func misfit(proto uint8, b []byte, left int, fragment bool) string {
	const padding = 3 // at most: zeros that the report has behind a packet that is cut
	if left > len(b) {
		b = b[:max(len(bytes.TrimRight(b, "\x00")), len(b)-padding)]
	}
	switch {
	case proto == packet.ProtoUDP && left < packet.UDPLen, proto == packet.ProtoTCP && left < packet.TCPLen:
		return fmt.Sprintf("the packet has %d bytes behind INT, too few for the header that NPT 2 restores", left)
	case proto == packet.ProtoUDP && !fragment && len(b) >= 6:
		if n := int(binary.BigEndian.Uint16(b[4:])); n != left {
			return fmt.Sprintf("the UDP length behind INT is %d, and the packet has %d bytes there", n, left)
		}
	case proto == packet.ProtoTCP && len(b) > 12:
		if n := int(b[12]>>4) * 4; n < packet.TCPLen || n > left {
			return fmt.Sprintf("the TCP header behind INT has %d bytes by its Data Offset, and the packet has %d there", n, left)
		}
	}
	return ""
}
