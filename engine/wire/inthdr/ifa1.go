// Finds copies with IFA 1.0, which H3C calls INT: a marker behind the TCP or UDP header, and a header behind that.

package inthdr

import (
	"encoding/binary"

	"intsink/engine/wire/packet"
)

// The header of IFA 1.0, marker included:
//
//	| Marker 64 | Version 8 (1) | Type 8 (1: probe) | Flags 16 | Request 32 | Hop limit 8 | Hops 8 | Zero 16 | Maximum length 16 | Current length 16 | Handle 16 | Sequence number 16 |
const (
	ifa1Len     = 28
	ifa1Version = 8
	ifa1Current = 22
	ifa1Is      = 0x0101 // version and type
)

// locateIFA1 finds IFA 1.0, which only copies have. No public text says how hops are laid out, nor whether the current length
// counts the header: the bytes up to the furthest end that it may mean are taken for telemetry, and nothing is read of them.
func (p *Locator) locateIFA1(b []byte, l *packet.Layers, i *Info) Result {
	at, end := int(l.Payload), int(l.End)
	if end-at < probeMarkerLen {
		return NotINT
	}
	if len(b) < at+probeMarkerLen {
		return NeedMore
	}
	if binary.BigEndian.Uint64(b[at:]) != p.foreign.IFA.Marker {
		return NotINT
	}
	*i = Info{}
	i.Marking, i.Type, i.Format, i.DSCP, i.Start, i.Shim = ByIFA1, IFA, FormatIFA, l.DSCP, uint16(at), uint16(at+probeMarkerLen)
	if end < at+ifa1Len {
		return unsound(i, ReasonTruncated)
	}
	if len(b) < at+ifa1Len {
		return NeedMore
	}
	if binary.BigEndian.Uint16(b[at+ifa1Version:]) != ifa1Is {
		return unsound(i, ReasonVersion)
	}
	current := int(binary.BigEndian.Uint16(b[at+ifa1Current:]))
	if at+current > end {
		return unsound(i, ReasonLength)
	}
	if r := i.extend(b, min(at+ifa1Len+current, end), end); r != Sound {
		return r
	}
	i.Stack, i.StackLen = i.Shim, i.End-i.Shim
	i.Copy, i.Discard, i.Reason = true, true, ReasonIFA1
	return Sound
}
