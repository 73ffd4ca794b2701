package report

import "encoding/binary"

// TLVType is the type of one TLV of InType 1 (Telemetry Report 2.0, section
// "Individual Report Inner Contents for InType 1").
type TLVType uint8

const (
	TLVDSExtension TLVType = 0
	TLVEthernet    TLVType = 1
	TLVIPv4        TLVType = 2
	TLVIPv6        TLVType = 3
)

const (
	tlvHeaderLen = 4
	maxTLVWords  = 0xff
)

// TLVLen is the length in bytes of a TLV with n bytes of data, padding
// included.
func TLVLen(n int) int { return tlvHeaderLen + (n+3)&^3 }

// PutTLV writes a TLV to b and returns its length, 0 where it does not fit or
// data is longer than 1020 bytes. The data is padded with zeros to a multiple of
// four. template is the TLV Data Template of domain specific extension data; it
// is written as zero for the other types.
func PutTLV(b []byte, t TLVType, template uint16, data []byte) int {
	words := (len(data) + 3) / 4
	n := TLVLen(len(data))
	if n > len(b) || words > maxTLVWords {
		return 0
	}
	if t != TLVDSExtension {
		template = 0
	}
	b[0] = uint8(t) << 4
	b[1] = uint8(words)
	binary.BigEndian.PutUint16(b[2:], template)
	end := tlvHeaderLen + copy(b[tlvHeaderLen:n], data)
	clear(b[end:n])
	return n
}

// lastTLV is where the last TLV in b starts, which PutTLV wrote.
func lastTLV(b []byte) (at int) {
	for next := 0; next+tlvHeaderLen <= len(b); next += tlvHeaderLen + int(b[next+1])*4 {
		at = next
	}
	return at
}
