// Removes the two parts of IFA: the header behind IP, and metadata header and stack behind L4 or at the packet's end.

package strip

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// stripIFA moves what stands between the two parts to the end of the second, and all in front of them to there. What stays
// is as the source sent it: L4's length and checksum never counted IFA.
func stripIFA(b []byte, l *packet.Layers, i *inthdr.Info) int {
	n, start, end := int(i.Removed), int(i.Start), int(i.End)
	between := int(i.Second) - (start + ifaHeaderLen)
	var edit ipv4
	var length uint16
	if l.IPVersion == 4 {
		edit = ipv4Edit(b, l, i, n)
	} else {
		length = binary.BigEndian.Uint16(b[l.L3+4:]) - uint16(n)
	}
	copy(b[end-between:end], b[start+ifaHeaderLen:])
	front := b[n:end]
	copy(front, b[:start])
	if l.IPVersion == 4 {
		edit.put(front[l.L3:])
	} else {
		putIPv6(front, l, i, length)
	}
	return n
}

// ifaHeaderLen is the length of IFA's header behind IP.
const ifaHeaderLen = 4
