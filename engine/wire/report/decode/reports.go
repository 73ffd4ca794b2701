// Reports: iterates over the individual reports of a packet; first word, main contents and
// inner contents of one report of 2.0.

package decode

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
)

// Reports gives the individual reports of a packet, one after the other. It is made to be used
// again, for the next packet.
type Reports struct {
	Header
	Layout2018 bool  // RepMdBits of 1.0 are those of the proposal of January 2018
	Err        error // once Next has returned false: nil, or ErrTruncated if bytes were left over that are no report

	packet []byte
	at     int
	layout inthdr.Layout // of the last values that were read
}

// Open begins with a packet, the payload of a UDP datagram. Its error is that of ReadHeader, or
// ErrTruncated if there is no report behind the header.
func (p *Reports) Open(packet []byte) (err error) {
	p.packet, p.at, p.Err = packet, 0, nil
	if p.Header, err = ReadHeader(packet); err != nil {
		p.packet = nil
		return err
	}
	if p.Version != Version20 {
		return nil
	}
	if p.at = group20Len; p.Identified {
		p.at += report.IdentityReportLen
	}
	if p.at == len(packet) {
		return ErrTruncated
	}
	return nil
}

// Report is one individual report. Fields that its version does not have are zero.
type Report struct {
	Offset int // of the report in its packet

	RepType      report.RepType
	InType       report.InType // of older versions: what 2.0 would say
	NextProtocol uint8         // NProt of 1.0, NProto of 0.5
	Length       uint8         // words: Report Length of 2.0, Length of 1.0
	MDLength     uint8         // words, of 2.0
	Reserved     bool          // a bit or a code point is used that the version reserves

	Dropped, Congested, Tracked, Intermediate bool // D, Q, F, I

	// Main contents: those that HasMain says are there, of 1.0 RepMdBits alone (six bits).
	HasMain                                   bool
	RepMdBits, DomainID, DSMdBits, DSMdStatus uint16
	Own                                       Metadata
	DSMetadata                                []byte // domain specific metadata: its layout is the domain's

	Inner []byte // inner contents, padding included; of a RepType without defined contents all that it has

	TransparentSecurity TransparentSecurity // the report is one of that project's code

	Problem Problem // what is wrong with the report; the parts that could be read are set
}

const toTheEnd = 0xff // Report Length: at least 255 words, to the end of the payload

// Next reads the next report into r, and returns false where there is none.
func (p *Reports) Next(r *Report) bool {
	b := p.packet[p.at:]
	if len(b) == 0 {
		return false
	}
	*r = Report{} // alone it makes zeros; with fields it would copy a Report
	r.Offset, r.Own = p.at, nothing
	switch p.Version {
	case Version10:
		p.read10(r)
	case Version05:
		p.read05(r)
	default:
		if len(b) < firstWordLen {
			p.Err, p.at = ErrTruncated, len(p.packet)
			return false
		}
		p.at += p.read20(r, b)
		return true
	}
	p.at = len(p.packet)
	return true
}

// reserved20 reports whether the individual report of 2.0 at the start of b has reserved bits or code points.
func reserved20(b []byte) bool {
	return !report.RepType(b[0]>>4).Known() || report.InType(b[0]&0xf) > report.IPv6 || b[3]&0xf != 0
}

// read20 reads the individual report of 2.0 at the start of b, which has its first word, and returns how many bytes
// it has.
func (p *Reports) read20(r *Report, b []byte) (size int) {
	r.RepType, r.InType, r.Length, r.MDLength = report.RepType(b[0]>>4), report.InType(b[0]&0xf), b[1], b[2]
	r.Dropped, r.Congested, r.Tracked, r.Intermediate = b[3]&0x80 != 0, b[3]&0x40 != 0, b[3]&0x20 != 0, b[3]&0x10 != 0
	r.Reserved = reserved20(b)
	size = firstWordLen + int(r.Length)*4
	if size > len(b) {
		r.Problem = ProblemLength
	}
	if r.Length == toTheEnd || size > len(b) {
		size = len(b)
	}
	if r.TransparentSecurity = findTransparentSecurity(b); r.TransparentSecurity != NotTransparentSecurity {
		r.transparentSecurity(b)
		return len(b)
	}
	r.Inner = b[firstWordLen:size]
	if r.RepType == report.INT {
		p.mainContents(r)
	}
	if r.InType == report.None && r.Defined() && len(r.Inner) > 0 {
		r.problem(ProblemInType)
	}
	return size
}

// mainContents reads the main contents of RepType 1, with which r.Inner begins, and leaves the bytes behind them.
func (p *Reports) mainContents(r *Report) {
	b := r.Inner
	if len(b) < intMainLen {
		r.Inner = nil
		r.problem(ProblemMain)
		return
	}
	r.setMain(b)
	b = b[intMainLen:]
	length := int(r.MDLength) * 4
	if length > len(b) {
		length = len(b)
		r.problem(ProblemMDLength)
	}
	n := p.own(r, r.RepMdBits, inthdr.Format2, b[:length])
	r.DSMetadata, r.Inner = b[n:length], b[length:]
	if !r.domainAgrees() {
		r.problem(ProblemMDLength)
	}
}

// domainAgrees reports whether the domain specific metadata can be what DSMdBits say: how much each bit takes is the
// domain's to say, but it is a word at least, and no bit takes nothing. Domain 0 has no bits: they are reserved.
func (r *Report) domainAgrees() bool {
	if r.DSMdBits == 0 || r.DomainID == 0 {
		return len(r.DSMetadata) == 0
	}
	return len(r.DSMetadata) >= 4*bits.OnesCount16(r.DSMdBits)
}

// setMain reads the fixed part of the main contents of RepType 1.
func (r *Report) setMain(b []byte) {
	r.HasMain = true
	r.RepMdBits, r.DomainID = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	r.DSMdBits, r.DSMdStatus = binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint16(b[6:])
}

// Defined reports whether the specification says what the contents of r's RepType are: not so for IOAM
// and reserved types.
func (r *Report) Defined() bool { return r.RepType <= report.INT }

// Packet reports whether the inner contents are a packet of r's InType.
func (r *Report) Packet() bool { return r.Defined() && IsPacket(r.InType) }

// IsPacket reports whether inner contents of type t are a packet.
func IsPacket(t report.InType) bool { return t >= report.Ethernet && t <= report.IPv6 }
