// TLVs: iterates over the TLVs of a report's inner contents.

package decode

import (
	"encoding/binary"

	"intsink/engine/wire/report"
)

// TLV is one of those that inner contents of InType 1 consist of.
type TLV struct {
	Type     report.TLVType
	Template uint16 // of domain specific extension data
	Data     []byte // padding included
}

// InType returns what the data are, in terms of InType; false for a type that is reserved.
func (t *TLV) InType() (report.InType, bool) {
	if t.Type == report.TLVDSExtension {
		return report.DSExtension, true
	}
	return report.Ethernet + report.InType(t.Type-report.TLVEthernet), t.Type <= report.TLVIPv6
}

// TLVs gives the TLVs in inner contents, one after the other.
type TLVs struct {
	Problem Problem // once Next has returned false

	rest []byte
}

// TLVs returns those of a report; there are none unless its inner contents consist of them.
func (r *Report) TLVs() TLVs {
	if !r.Defined() || r.InType != report.TLV {
		return TLVs{}
	}
	return TLVs{rest: r.Inner}
}

// Next reads the next TLV into v, and returns false where there is none. One that is cut is the last.
func (t *TLVs) Next(v *TLV) bool {
	b := t.rest
	if len(b) == 0 {
		return false
	}
	if len(b) < tlvHeaderLen {
		t.rest, t.Problem = nil, ProblemTLV
		return false
	}
	size := tlvHeaderLen + int(b[1])*4
	if size > len(b) {
		size, t.Problem = len(b), ProblemTLV
	}
	*v = TLV{report.TLVType(b[0] >> 4), binary.BigEndian.Uint16(b[2:]), b[tlvHeaderLen:size]}
	t.rest = b[size:]
	return true
}
